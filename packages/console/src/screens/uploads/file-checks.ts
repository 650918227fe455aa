/** Checks of a file before a byte of it is uploaded. What is wrong says what to do instead. */
import type { Upload } from '../../api/contract.ts'

type NamedFile = Pick<File, 'name' | 'size'>

/** Why the file cannot be uploaded; null if it can. */
export function refusalOf({ name, size }: NamedFile): string | null {
  if (/\.(zip|7z|rar|gz)$/i.test(name)) return 'Archives are not supported. Unpack it and upload the .tif files.'
  if (/\.(jp2|j2k|ecw|img|sid)$/i.test(name)) return `Convert it to COG first: gdal_translate -of COG ${quoted(name)} out.tif`
  if (!/\.tiff?$/i.test(name)) return 'Unsupported file type. Upload GeoTIFF or COG files (.tif, .tiff).'
  return size === 0 ? 'The file is empty.' : null
}

const MAX_SCENE_FILES = 32

/** Why files cannot be uploaded as one scene; null if they can. */
export function sceneRefusalOf(files: readonly NamedFile[]): string | null {
  if (files.length < 2) return 'Choose all files of the scene together, one for each band.'
  if (files.length > MAX_SCENE_FILES) return `A scene has at most ${MAX_SCENE_FILES} files. ${files.length} were chosen.`
  for (const file of files) {
    const refusal = refusalOf(file)
    if (refusal) return `${file.name}: ${refusal}`
  }
  return null
}

/** What the names of its files begin with, and how many files there are: `T56HLH (3 files)`. */
export function sceneName(fileNames: readonly string[]): string {
  const [first = '', ...others] = fileNames
  let length = 0
  while (length < first.length && others.every((name) => name[length] === first[length])) length++
  // Without the separator, and without the part of a word behind it.
  const stem = /^(.*[\p{L}\p{N}])[^\p{L}\p{N}]+[\p{L}\p{N}]*$/u.exec(first.slice(0, length))?.[1]
  return `${others.length > 0 && stem ? stem : first} (${fileNames.length === 1 ? '1 file' : `${fileNames.length} files`})`
}

/** A name as one word of a shell. */
const quoted = (name: string) => (/^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", String.raw`'\''`)}'`)

/** Why the file is not the one that the unfinished upload began with; null if it is. */
export function mismatchOf({ name, size }: NamedFile, upload: Pick<Upload, 'files' | 'total_bytes'>): string | null {
  const [expected] = upload.files
  if (expected && expected.name !== name) return `Choose “${expected.name}” to continue this upload.`
  return size === upload.total_bytes ? null : 'The file size differs from the file that was being uploaded.'
}
