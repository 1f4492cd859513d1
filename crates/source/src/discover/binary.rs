//! Detection of binary files by name. Content has the last word, in [`super::read()`].

/// Whether the path names a binary file.
pub(super) fn file(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    // A name such as `.png` is a hidden file without an extension.
    if stem.is_empty() {
        return false;
    }
    // Compiled translations share their extension with Modelica's sources, but they all lie in folders of one name.
    if is_binary(extension) || (extension == "mo" && folder.ends_with("LC_MESSAGES")) {
        return true;
    }
    extension.bytes().any(|byte| byte.is_ascii_uppercase()) && is_binary(&extension.to_ascii_lowercase())
}

/// Extensions of binary files only. Extensions that some tool also uses for text are missing, so that the content
/// decides: Jest's `.snap`, ReScript's `.res`, `.pdb` for proteins.
fn is_binary(extension: &str) -> bool {
    match extension {
        // Images. SVG is text.
        "png" | "jpg" | "jpeg" | "jpe" | "jfif" | "gif" | "bmp" | "dib" | "ico" | "icns" | "cur" | "webp" | "avif"
        | "heic" | "heif" | "tif" | "tiff" | "tga" | "dds" | "exr" | "psd" | "psb" | "xcf" | "ai" | "sketch"
        | "jp2" | "jxl" | "ktx" | "ktx2" | "pcx" => true,
        // Sound and film. `.ts` is far more often a program than a film.
        "mp3" | "mp4" | "m4a" | "m4v" | "wav" | "flac" | "ogg" | "oga" | "ogv" | "opus" | "aac" | "aif" | "aiff"
        | "mid" | "midi" | "wma" | "wmv" | "avi" | "mov" | "mkv" | "webm" | "flv" | "mpg" | "mpeg" | "3gp" | "caf" => {
            true
        }
        // Fonts.
        "ttf" | "otf" | "ttc" | "woff" | "woff2" | "eot" | "pfb" | "pfm" => true,
        // Archives and packages.
        "zip" | "tar" | "gz" | "tgz" | "bz2" | "tbz" | "tbz2" | "xz" | "txz" | "lz" | "lz4" | "lzma" | "zst"
        | "zstd" | "br" | "7z" | "rar" | "cab" | "cpio" | "deb" | "rpm" | "apk" | "aab" | "ipa" | "dmg" | "iso"
        | "img" | "msi" | "appimage" | "whl" | "egg" | "gem" | "nupkg" | "crate" | "jar" | "war" | "ear" | "aar"
        | "vsix" | "xpi" | "crx" | "conda" | "phar" => true,
        // Programs, objects and bytecode.
        "exe" | "dll" | "so" | "dylib" | "a" | "o" | "ko" | "elf" | "efi" | "ilk" | "class" | "dex" | "pyc" | "pyo"
        | "pyd" | "wasm" | "beam" | "rlib" | "rmeta" | "gch" | "pch" | "swiftmodule" | "swiftdoc" | "node" | "syso"
        | "elc" | "luac" => true,
        // Office documents and books. `.dot` is left to Graphviz, which writes text.
        "pdf" | "doc" | "docx" | "dotx" | "xls" | "xlsx" | "xlsm" | "xlsb" | "ppt" | "pptx" | "odt" | "ods" | "odp"
        | "odg" | "rtf" | "epub" | "mobi" | "azw3" | "djvu" | "vsd" | "vsdx" => true,
        // Databases, data sets and models.
        "db" | "db3" | "sqlite" | "sqlite3" | "mdb" | "accdb" | "dbf" | "ldb" | "sst" | "rdb" | "parquet" | "avro"
        | "feather" | "arrow" | "h5" | "hdf5" | "npy" | "npz" | "pkl" | "pickle" | "joblib" | "rds" | "rdata"
        | "pt" | "ckpt" | "onnx" | "tflite" | "safetensors" | "gguf" | "ggml" | "mlmodel" | "pack" | "mmdb" | "shp"
        | "shx" | "tfrecord" => true,
        // Scenes, meshes and certificates in binary form.
        "blend" | "fbx" | "glb" | "3ds" | "uasset" | "umap" | "unitypackage" | "der" | "swf" | "fla" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::file;

    #[test]
    fn binaries_are_known_by_extension() {
        for name in [
            "locale/de/LC_MESSAGES/django.mo",
            "logo.png",
            "LOGO.PNG",
            "a.tar.gz",
            "lib.so",
            "Main.class",
            "data.sqlite3",
            "font.woff2",
        ] {
            assert!(file(name), "{name}");
        }
    }

    #[test]
    fn text_is_kept() {
        for name in [
            "icon.svg",
            "a.ts",
            "graph.dot",
            "app.test.js.snap",
            "App.res",
            "run.exp",
            "main.c",
            "README",
            ".png",
            "Makefile",
            "Heat.mo",
            "data.csv",
        ] {
            assert!(!file(name), "{name}");
        }
    }
}
