"""The two settings of dtypes that come from the environment."""

import os
from typing import Final

from dynamis.dtype.errors import DtypeError
from dynamis.dtype.scalar import scalar_of_name
from dynamis.dtype.val import Val


def _configured(name: str) -> Val:
    text = os.environ.get(name, "") or "float32"
    try:
        return Val.of_scalar(scalar_of_name(text))
    except DtypeError as error:
        raise DtypeError(f"{name}={text}: {error}") from None


def read_default_float() -> Val:
    """DEFAULT_FLOAT, by default float32. Raises DtypeError for what names no float."""
    dtype = _configured("DEFAULT_FLOAT")
    if not dtype.is_float:
        raise DtypeError(f"DEFAULT_FLOAT={dtype.name} is no float")
    return dtype


default_float: Final = read_default_float()
"""The float that an integer becomes when it must: DEFAULT_FLOAT, read once, at import."""


def sum_dtype() -> Val:
    """The least dtype that sums of floats accumulate in: SUM_DTYPE, read at each call.

    float32 by default. Raises DtypeError for what names no dtype.
    """
    return _configured("SUM_DTYPE")


def val_of_name(name: str) -> Val:
    """The one-lane dtype called `name`, in any letter case; `default_float` is the configured one.

    Raises DtypeError for an unknown name.
    """
    if name.lower() == "default_float":
        return default_float
    return Val.of_scalar(scalar_of_name(name))
