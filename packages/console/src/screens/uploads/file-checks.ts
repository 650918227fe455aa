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

/** A name as one word of a shell. */
const quoted = (name: string) => (/^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", String.raw`'\''`)}'`)

/** Why the file is not the one that the unfinished upload began with; null if it is. */
export function mismatchOf({ name, size }: NamedFile, upload: Pick<Upload, 'files' | 'total_bytes'>): string | null {
  const [expected] = upload.files
  if (expected && expected.name !== name) return `Choose “${expected.name}” to continue this upload.`
  return size === upload.total_bytes ? null : 'The file size differs from the file that was being uploaded.'
}
