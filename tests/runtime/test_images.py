"""Pictures and .npy files: what is read, what is written, and what is refused."""

from __future__ import annotations

import os

import numpy as np
import pytest
from PIL import Image

from dynamis.runtime.errors import ArgumentError, ArgumentTypeError, ArgumentValueError
from dynamis.runtime.files import FileError
from dynamis.runtime.images import (
    FORMATS,
    encode_unorm8,
    read_image,
    read_npy,
    write_image,
    write_npy,
)

RGBA = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4) * 10


def saved(path, array, mode=None, **options):
    Image.fromarray(array, mode).save(path, **options)
    return path


def test_a_png_is_read_as_u_over_255_with_its_alpha(tmp_path):
    picture = read_image(saved(tmp_path / "a.png", RGBA))
    assert picture.dtype == np.float32
    assert picture.tobytes() == (RGBA / 255).astype(np.float32).tobytes()


def test_gray_and_rgb_pictures_are_read_as_opaque_rgba(tmp_path):
    gray = read_image(saved(tmp_path / "gray.png", RGBA[..., 0]))
    assert np.array_equal(gray[..., 2], (RGBA[..., 0] / 255).astype(np.float32))
    assert (gray[..., 3] == 1).all()
    rgb = read_image(saved(tmp_path / "rgb.bmp", RGBA[..., :3]))
    assert np.array_equal(rgb[..., :3], (RGBA[..., :3] / 255).astype(np.float32))
    assert (rgb[..., 3] == 1).all()


def test_palette_pictures_keep_their_transparency(tmp_path):
    image = Image.new("P", (2, 1))
    image.putpalette([255, 0, 0, 0, 0, 255])
    image.putdata([0, 1])
    image.save(tmp_path / "a.png", transparency=1)
    assert read_image(tmp_path / "a.png").tolist() == [[[1, 0, 0, 1], [0, 0, 1, 0]]]


def test_sixteen_bit_gray_is_read_as_u_over_65535(tmp_path):
    deep = np.array([[0, 1000, 65535]], np.uint16)
    picture = read_image(saved(tmp_path / "a.png", deep))
    assert np.array_equal(picture[0, :, 1], (deep[0] / 65535).astype(np.float32))
    assert (picture[..., 3] == 1).all()


def test_exif_orientation_is_applied(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned: rows are columns
    Image.fromarray(RGBA[..., :3]).save(tmp_path / "a.png", exif=exif)
    turned = np.rot90(RGBA[..., :3], -1)
    read = read_image(tmp_path / "a.png")[..., :3]
    assert np.array_equal(read, (turned / 255).astype(np.float32))


@pytest.mark.parametrize("suffix", [".png", ".webp", ".tif", ".bmp", ".PNG"])
def test_pictures_come_back_as_they_were_written(tmp_path, suffix):
    written = (RGBA[..., :3] / 255).astype(np.float32)
    path = write_image(tmp_path / f"a{suffix}", written)
    assert np.array_equal(read_image(path)[..., :3], written)


@pytest.mark.parametrize("suffix", [".png", ".webp", ".tif"])
def test_alpha_comes_back_as_it_was_written(tmp_path, suffix):
    written = (RGBA / 255).astype(np.float32)
    written[..., 3] = 0.6
    assert np.array_equal(read_image(write_image(tmp_path / f"a{suffix}", written)), written)


def test_a_jpeg_is_close_to_what_was_written(tmp_path):
    ramp = np.linspace(0, 1, 64, dtype=np.float32)
    written = np.ones((64, 64, 4), np.float32)
    written[..., :3] = ramp[:, None]
    read = read_image(write_image(tmp_path / "a.jpg", written))
    assert np.abs(read - written).max() < 0.02


def test_a_jpeg_refuses_transparency(tmp_path):
    with pytest.raises(ArgumentValueError, match=r"lose the picture's transparency: write a \.png"):
        write_image(tmp_path / "a.jpg", np.zeros((2, 2, 4), np.float32))
    assert os.listdir(tmp_path) == []


def test_encoding_rounds_half_to_even_clamps_and_takes_nan_as_0():
    halves = np.array([0.5, 1.5, 2.5, 254.5], np.float32) / np.float32(255)
    exact = halves * np.float32(255) == np.array([0.5, 1.5, 2.5, 254.5])
    assert encode_unorm8(halves)[exact].tolist() == np.array([0, 2, 2, 254])[exact].tolist()
    assert exact.any()
    wild = np.array([np.nan, -np.inf, -1, -0.0, 1e-40, 1, 2, np.inf], np.float32)
    assert encode_unorm8(wild).tolist() == [0, 0, 0, 0, 0, 255, 255, 255]


def test_every_byte_survives_reading_and_writing():
    octets = np.arange(256, dtype=np.uint8)
    assert np.array_equal(encode_unorm8((octets / 255).astype(np.float32)), octets)


def pixels(path):
    return np.asarray(Image.open(path))


def test_scalar_arrays_are_gray_pictures(tmp_path):
    gray = write_image(tmp_path / "f.png", np.array([[0, 0.5, 1]], np.float32))
    assert pixels(gray).tolist() == [[0, 128, 255]]
    ints = write_image(tmp_path / "i.png", np.array([[0, 7, 255]], np.int32))
    assert pixels(ints).tolist() == [[0, 7, 255]]
    flags = write_image(tmp_path / "b.png", np.array([[True, False]]))
    assert pixels(flags).tolist() == [[255, 0]]


@pytest.mark.parametrize(
    ("array", "says"),
    [
        (np.zeros((2, 2), np.int32) - 1, "integers in a picture are 0…255, but these are -1…-1"),
        (np.full((2, 2), 300, np.int32), "these are 300…300: scale them"),
        (np.zeros(4, np.float32), "not (4,): write a .npy file instead"),
        (np.zeros((2, 2, 2), np.float32), "not (2, 2, 2)"),
        (np.zeros((0, 2), np.float32), "at least one pixel"),
        (np.zeros((2, 2), complex), "numbers or bools, not complex128"),
        ("nothing", "the picture is a str"),
    ],
)
def test_an_array_that_makes_no_picture_is_refused(tmp_path, array, says):
    with pytest.raises(ArgumentError) as caught:
        write_image(tmp_path / "a.png", array)
    assert says in str(caught.value)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["a", "a.gif", "a.xyz", "png"])
def test_a_suffix_that_names_no_format_is_refused_naming_those_that_do(tmp_path, name):
    with pytest.raises(ArgumentValueError, match=r"\.png \.jpg .*\.npy"):
        write_image(tmp_path / name, RGBA)


def test_every_listed_format_can_be_written(tmp_path):
    for suffix in FORMATS:
        assert write_image(tmp_path / f"a{suffix}", RGBA[..., :3]).stat().st_size > 0


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(FileError, match=r"nothing\.png: there is no such file"):
        read_image(tmp_path / "nothing.png")
    with pytest.raises(FileError, match=r"nothing\.npy: there is no such file"):
        read_npy(tmp_path / "nothing.npy")


def test_a_file_that_is_no_picture_is_said_to_be_none(tmp_path):
    for content in (b"", b"hello", os.urandom(8) * 100):
        (tmp_path / "a.png").write_bytes(content)
        with pytest.raises(FileError, match="it is not a picture that Pillow knows"):
            read_image(tmp_path / "a.png")
    with pytest.raises(FileError, match="Is a directory"):
        read_image(tmp_path)


def test_a_truncated_picture_is_refused(tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (40, 40, 3), np.uint8)
    for suffix in ("png", "jpg", "webp"):
        whole = write_image(tmp_path / f"a.{suffix}", noise).read_bytes()
        (tmp_path / f"a.{suffix}").write_bytes(whole[: len(whole) // 2])
        with pytest.raises(FileError, match=f"cannot read .*a.{suffix}: "):
            read_image(tmp_path / f"a.{suffix}")


def test_a_picture_of_absurd_size_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 2)
    with pytest.raises(FileError, match="exceeds limit"):
        read_image(saved(tmp_path / "a.png", RGBA))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 4)  # large, but not absurd: no warning either
    assert read_image(tmp_path / "a.png").shape == (2, 3, 4)


@pytest.mark.parametrize("dtype", ["f4", "i4", "?", ">f4", "u1"])
def test_npy_files_come_back_as_they_were_written(tmp_path, dtype):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    back = read_npy(write_npy(tmp_path / "a.npy", array))
    assert back.dtype == array.dtype
    assert np.array_equal(back, array)


def test_a_damaged_or_pickled_npy_file_is_refused(tmp_path):
    path = write_npy(tmp_path / "a.npy", np.zeros(100, np.float32))
    whole = path.read_bytes()
    for damaged in (b"", b"junk", whole[:50], whole[:200], whole.replace(b"(100,)", b"(9e9,)")):
        path.write_bytes(damaged)
        with pytest.raises(FileError, match=r"cannot read .*a\.npy as \.npy"):
            read_npy(path)
    np.save(path, np.array([{}]), allow_pickle=True)
    with pytest.raises(FileError, match="allow_pickle"):
        read_npy(path)


def test_a_failed_write_keeps_the_old_picture(tmp_path, monkeypatch):
    path = write_image(tmp_path / "a.png", RGBA)
    before = path.read_bytes()

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Image.Image, "save", fail)
    with pytest.raises(FileError, match="No space left"):
        write_image(path, RGBA // 2)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.png"]


def test_an_unsupported_dtype_names_itself():
    with pytest.raises(ArgumentTypeError):
        write_image("a.png", np.zeros((2, 2), object))
