"""Dynamis: data-parallel kernels in Python, at native speed, with the same bits everywhere.

    import numpy as np, dynamis as dy
    from dynamis import Grid, vec4

    @dy.kernel
    def invert(image: Grid[vec4]) -> Grid[vec4]:
        c = image.sample()
        return vec4(1.0 - c.rgb, c.a)

    out = invert(pixels)  # float32, shape (height, width, 4), in and out

Here ``dynamis.kernel`` is the decorator; the Kernel IR lives in the package of the same name, which
``from dynamis.kernel import ...`` reaches.
"""
