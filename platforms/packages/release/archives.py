"""Archives that are the same bytes whenever they are made of the same files: names in order, one time, no owner."""

import functools
import gzip
import io
import subprocess
import tarfile
import time
import zipfile


class Unknown(Exception):
    """A file whose contents this module cannot list."""


def source(root, prefix, target):
    """Packs the commit's files, and nothing that lies beside them, as PREFIX/... A person's git may set another umask."""
    command = ["git", "-c", "tar.umask=0022", "archive", "--format=tar", f"--prefix={prefix}/", "HEAD"]
    tar = subprocess.run(command, cwd=root, check=True, capture_output=True)
    target.write_bytes(gzip.compress(tar.stdout, 9, mtime=0))


def folder(path, prefix, target, epoch):
    """Packs a folder as PREFIX/...; each file has the time of the release."""
    moment = time.gmtime(epoch)[:6]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        files = {each.relative_to(path).as_posix(): each for each in path.rglob("*") if each.is_file()}
        for name, file in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{prefix}/{name}", moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # the modes are Unix's
            entry.external_attr = (0o755 if file.stat().st_mode & 0o100 else 0o644) << 16
            archive.writestr(entry, file.read_bytes())


def members(path):
    """The files in an archive, each as its name and what reads its bytes; a Debian package's are those of its data."""
    if path.suffix in (".zip", ".whl"):
        with zipfile.ZipFile(path) as archive:
            yield from ((name, functools.partial(archive.read, name)) for name in archive.namelist())
    elif path.suffix == ".deb" or path.name.endswith(".tar.gz"):
        command = ["dpkg-deb", "--fsys-tarfile", path]
        deb = path.suffix == ".deb" and subprocess.run(command, check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(deb or path.read_bytes())) as archive:
            for entry in archive:
                yield entry.name, archive.extractfile(entry).read if entry.isfile() else bytes
    else:
        raise Unknown(f"{path.name}: expected a .zip, .whl, .tar.gz or .deb")
