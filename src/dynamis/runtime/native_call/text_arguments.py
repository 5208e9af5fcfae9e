"""The wrapper's part about arguments: which is which, and parameters as words.

Goes in: nothing. Comes out: functions as shorthand LLVM text (``assembler.py``). ``bind`` matches
arguments with places and names as ``runtime/bind.py`` does, ``convert`` numbers as
``runtime/params.py`` does; both answer false to whatever those would refuse or do otherwise.
"""

from __future__ import annotations

from typing import Final

BIND: Final = """
; Arguments by position and by name into Frame.given and Frame.out.
define internal i1 @bind(ptr %k, ptr %api, ptr %frame, ptr %args, i64 %n, ptr %names) nounwind {
entry:
  %given = at Frame.given %frame
  %count = get Kernel.arguments %k
  set Frame.out %frame, null
  br label %clear
clear:
  %c = phi i64 [ 0, %entry ], [ %c.next, %cleared ]
  %unclear = icmp ult i64 %c, %count
  br i1 %unclear, label %cleared, label %positions
cleared:
  put ptr null, %given, %c
  %c.next = add i64 %c, 1
  br label %clear
positions:
  %most = get Kernel.positions %k
  %places = get Kernel.places %k
  %many = icmp ugt i64 %n, %most
  br i1 %many, label %no, label %next
next:
  %i = phi i64 [ 0, %positions ], [ %i.next, %one ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %one, label %named
one:
  %argument = item ptr %args, %i
  %place = item i64 %places, %i
  put ptr %argument, %given, %place
  %i.next = add i64 %i, 1
  br label %next
named:
  %none.named = icmp eq ptr %names, null
  br i1 %none.named, label %yes, label %walk
walk:
  %out.name = object out
  %threads.name = object threads
  %none = object none
  %keys = getelementptr ptr, ptr %names, i64 $ITEMS
  %key.count = py PyTuple_Size(%names)
  %values = getelementptr ptr, ptr %args, i64 %n
  br label %keyword
keyword:
  %j = phi i64 [ 0, %walk ], [ %j.next, %target ], [ %j.next, %present ], [ %j.next, %threads ],
               [ %j.next, %store ]
  %unread = icmp ult i64 %j, %key.count
  br i1 %unread, label %which, label %yes
which:
  %j.next = add i64 %j, 1
  %key = item ptr %keys, %j
  %value = item ptr %values, %j
  %is.out = icmp eq ptr %key, %out.name
  br i1 %is.out, label %target, label %other
target:
  %absent = icmp eq ptr %value, %none
  br i1 %absent, label %keyword, label %present
present:
  set Frame.out %frame, %value
  br label %keyword
other:
  %is.threads = icmp eq ptr %key, %threads.name
  br i1 %is.threads, label %threads, label %own
threads:
  %counts = call i1 @thread_count(ptr %api, ptr %frame, ptr %value)
  br i1 %counts, label %keyword, label %no
own:
  %at = call i64 @place_of(ptr %k, ptr %key)
  %unknown = icmp slt i64 %at, 0
  br i1 %unknown, label %no, label %known
known:
  %before = item ptr %given, %at
  %twice = icmp ne ptr %before, null
  br i1 %twice, label %no, label %store
store:
  put ptr %value, %given, %at
  br label %keyword
yes:
  ret i1 true
no:
  ret i1 false
}

; Whether an object is a number of threads, or None; the frame then has it.
define internal i1 @thread_count(ptr %api, ptr %frame, ptr %object) nounwind {
  %int = object int
  %none = object none
  %default = icmp eq ptr %object, %none
  br i1 %default, label %yes, label %typed
typed:
  %type = item ptr %object, $TYPE
  %is.int = icmp eq ptr %type, %int
  br i1 %is.int, label %read, label %no
read:
  %n = py PyLong_AsLongLong(%object) ; -1 with an exception where it is too large
  %below = sub i64 %n, 1
  %within = icmp ult i64 %below, $MAX_THREADS
  set Frame.threads %frame, %n
  ret i1 %within
yes:
  set Frame.threads %frame, 0
  ret i1 true
no:
  ret i1 false
}

; The argument with that very name object, or -1.
define internal i64 @place_of(ptr %k, ptr %key) nounwind {
entry:
  %count = get Kernel.arguments %k
  %names = get Kernel.names %k
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %other ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %one, label %none
one:
  %name = item ptr %names, %i
  %same = icmp eq ptr %name, %key
  br i1 %same, label %found, label %other
other:
  %i.next = add i64 %i, 1
  br label %next
found:
  ret i64 %i
none:
  ret i64 -1
}
"""

CONVERT: Final = """
; The parameters' words: defaults, then those that were given.
define internal i1 @convert_params(ptr %k, ptr %api, ptr %frame) nounwind {
entry:
  %words = get Kernel.words %k
  %defaults = get Kernel.defaults %k
  %params = get Kernel.params %k
  %inputs = get Kernel.inputs %k
  %count = get Kernel.parameters %k
  %given = at Frame.given %frame
  %values = at Frame.values %frame
  br label %default
default:
  %w = phi i64 [ 0, %entry ], [ %w.next, %copy ]
  %left = icmp ult i64 %w, %words
  br i1 %left, label %copy, label %next
copy:
  %word = item i64 %defaults, %w
  %at = add i64 %w, $PARAMS
  put i64 %word, %values, %at
  %w.next = add i64 %w, 1
  br label %default
next:
  %i = phi i64 [ 0, %default ], [ %i.next, %done ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %one, label %yes
one:
  %argument = add i64 %inputs, %i
  %object = item ptr %given, %argument
  %absent = icmp eq ptr %object, null
  br i1 %absent, label %done, label %convert
convert:
  %param = getelementptr %Param, ptr %params, i64 %i
  %kind = get Param.kind %param
  %place = get Param.place %param
  %target = getelementptr i64, ptr %values, i64 %place
  %ok = call i1 @convert(ptr %api, ptr %object, i64 %kind, ptr %target)
  br i1 %ok, label %done, label %no
done:
  %i.next = add i64 %i, 1
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}

; One number, as runtime/params.py converts it; what that would refuse or convert otherwise: false.
define internal i1 @convert(ptr %api, ptr %object, i64 %kind, ptr %target) nounwind {
entry:
  %type = item ptr %object, $TYPE
  %int = object int
  %int32 = object int32
  %int64 = object int64
  %is.python.int = icmp eq ptr %type, %int
  %is.int32 = icmp eq ptr %type, %int32
  %is.int64 = icmp eq ptr %type, %int64
  %is.numpy.int = or i1 %is.int32, %is.int64
  %is.int = or i1 %is.python.int, %is.numpy.int
  %float = object float
  %float32 = object float32
  %float64 = object float64
  %is.python.float = icmp eq ptr %type, %float
  %is.float32 = icmp eq ptr %type, %float32
  %is.float64 = icmp eq ptr %type, %float64
  %is.numpy.float = or i1 %is.float32, %is.float64
  %is.float = or i1 %is.python.float, %is.numpy.float
  switch i64 %kind, label %no [
    i64 $F32, label %real
    i64 $F64, label %real
    i64 $I32, label %whole
    i64 $BOOL, label %truth
  ]
truth:
  %true = object true
  %false = object false
  %numpy.true = object numpy_true
  %numpy.false = object numpy_false
  %is.python.true = icmp eq ptr %object, %true
  %is.numpy.true = icmp eq ptr %object, %numpy.true
  %is.true = or i1 %is.python.true, %is.numpy.true
  %is.python.false = icmp eq ptr %object, %false
  %is.numpy.false = icmp eq ptr %object, %numpy.false
  %is.false = or i1 %is.python.false, %is.numpy.false
  %is.truth = or i1 %is.true, %is.false
  %bit = zext i1 %is.true to i64
  store i64 %bit, ptr %target, align 8
  ret i1 %is.truth
whole:
  br i1 %is.int, label %integer, label %no
real:
  br i1 %is.float, label %double, label %maybe
maybe:
  br i1 %is.int, label %integer, label %no
integer:
  %n = py PyLong_AsLongLong(%object)
  %suspect = icmp eq i64 %n, -1
  br i1 %suspect, label %doubt, label %sure
doubt:
  %error = py PyErr_Occurred()
  %overflow = icmp ne ptr %error, null
  br i1 %overflow, label %no, label %sure
sure:
  %is.whole = icmp eq i64 %kind, $I32
  br i1 %is.whole, label %narrow, label %exact
narrow:
  %half = trunc i64 %n to i32
  %again = sext i32 %half to i64
  %holds = icmp eq i64 %again, %n
  %bits = zext i32 %half to i64
  store i64 %bits, ptr %target, align 8
  ret i1 %holds
exact:
  %shifted = add i64 %n, $EXACT
  %is.exact = icmp ule i64 %shifted, $EXACT_COUNT
  br i1 %is.exact, label %from, label %no
from:
  %converted = sitofp i64 %n to double
  br label %number
double:
  %plain = py PyFloat_AsDouble(%object)
  br label %number
number:
  %x = phi double [ %converted, %from ], [ %plain, %double ]
  %is.number = fcmp ord double %x, 0.0
  br i1 %is.number, label %format, label %no
format:
  %is.f64 = icmp eq i64 %kind, $F64
  br i1 %is.f64, label %f64, label %f32
f64:
  store double %x, ptr %target, align 8
  ret i1 true
f32:
  %rounded = fptrunc double %x to float
  %back = fpext float %rounded to double
  %distance = fsub double %back, %back
  %finite = fcmp ord double %distance, 0.0
  %kept = fcmp oeq double %back, %x
  %fits = or i1 %finite, %kept
  %word = bitcast float %rounded to i32
  %wide = zext i32 %word to i64
  store i64 %wide, ptr %target, align 8
  ret i1 %fits
no:
  ret i1 false
}
"""
