"""Builds the wheels that platforms/packages/wheel.py lays out: of one platform, as a program is in them, for every Python 3."""
from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel


class OfPlatform(Distribution):
    def has_ext_modules(self) -> bool:
        return True


class Wheel(bdist_wheel):
    def get_tag(self) -> "tuple[str, str, str]":
        return ("py3", "none", super().get_tag()[2])


setup(distclass=OfPlatform, cmdclass={"bdist_wheel": Wheel})
