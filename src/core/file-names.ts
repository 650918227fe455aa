/** File names and media types from outside. */

const MAX_FILE_NAME_LENGTH = 180
const MAX_SEGMENT_LENGTH = 100
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*(?: ?; ?[a-z0-9_.-]+=(?:[a-z0-9_.:/+-]+|"[a-z0-9_.:/+ =-]*"))*$/i
const MAX_MEDIA_TYPE_LENGTH = 200

export function isMediaType(value: string): boolean {
  return value.length <= MAX_MEDIA_TYPE_LENGTH && MEDIA_TYPE.test(value)
}

/**
 * Makes a file name from outside safe as the last segment of an object key: readable, but without characters that have a meaning in
 * paths.
 */
export function keySegment(fileName: string): string {
  const base = fileName.split(/[/\\]/).at(-1)!
  const plain = base
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '_')
    .replace(/^[._-]+/, '')
  return shortened(plain, MAX_SEGMENT_LENGTH) || 'file'
}

/** Makes a file name from outside safe to show: no path, no control or bidirectional characters, never empty, extension kept. */
export function displayName(fileName: string): string {
  const base = fileName.toWellFormed().split(/[/\\]/).at(-1)!
  const plain = base
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]/gu, '')
    .replaceAll(/["<>|:*?]/g, '_')
    .trim()
    .replace(/^\.+/, '')
  return shortened(plain, MAX_FILE_NAME_LENGTH) || 'file'
}

/** Removes the extension. */
export function withoutEnding(fileName: string): string {
  return fileName.replace(/(?<=.)\.[A-Za-z0-9]{1,5}$/, '')
}

function shortened(name: string, maxLength: number): string {
  const characters = [...name]
  if (characters.length <= maxLength) return name
  const dot = characters.lastIndexOf('.')
  const ending = dot > 0 && characters.length - dot <= 20 ? characters.slice(dot) : []
  return [...characters.slice(0, maxLength - ending.length), ...ending].join('')
}
