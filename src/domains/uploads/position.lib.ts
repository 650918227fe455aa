/** Positions that come with the completion of an upload. */
import Type, { type Static } from 'typebox'
import { invalidField } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import { MAX_FILES_PER_SESSION, type UploadFile, type UploadPosition } from '#model/imagery/upload-file.ts'
import { positionFault } from '#raster/ingest/position.ts'

const MAX_GCPS = 1_000

const FilePosition = Closed({
  file_name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1_000, description: 'The name of the file; can be left out where the session has one file' }),
  ),
  crs: Type.String({ minLength: 1, maxLength: 40, description: 'The EPSG code of the coordinates below, such as EPSG:32633' }),
  bounds: Type.Optional(
    Type.Array(Type.Number(), {
      minItems: 4,
      maxItems: 4,
      description: 'The outer edges of the image: left, bottom, right, top, in units of `crs`',
    }),
  ),
  gcps: Type.Optional(
    Type.Array(Closed({ column: Type.Number(), row: Type.Number(), x: Type.Number(), y: Type.Number() }), {
      minItems: 3,
      maxItems: MAX_GCPS,
      description:
        'Ground control points: pixels from the top left corner of the image, and where they lie in units of `crs`. The image is placed ' +
        'by a straight (affine) fit through them',
    }),
  ),
})

export const Positions = Type.Array(FilePosition, {
  maxItems: MAX_FILES_PER_SESSION,
  description:
    'Where images lie that do not say so themselves. A position replaces what the file says; with `crs` alone, the transform of the ' +
    'file is read in that system',
})

/** By the id of the file. 422 for a position that belongs to no file of the session, or that is no place. */
export function positionsOf(given: Static<typeof Positions>, files: readonly UploadFile[]): Map<string, UploadPosition> {
  const positions = new Map<string, UploadPosition>()
  for (const [index, { file_name: name, ...position }] of given.entries()) {
    const field = (part: string): string => `positions.${index}.${part}`
    const file = fileOf(name, files, field('file_name'))
    if (positions.has(file.id)) throw invalidField(field('file_name'), `names ${file.name} twice`)
    const fault = positionFault(position)
    if (fault) throw invalidField(field(fault.part), fault.message)
    positions.set(file.id, position)
  }
  return positions
}

function fileOf(name: string | undefined, files: readonly UploadFile[], field: string): UploadFile {
  const names = files.map((file) => file.name).join(', ')
  const exact = files.find((file) => file.givenName === name)
  if (exact) return exact
  const candidates = name === undefined ? files : files.filter((file) => file.name === name)
  const [file] = candidates
  if (!file) throw invalidField(field, `is no file of this session${names === '' ? ', which has none yet' : `; they are ${names}`}`)
  if (candidates.length > 1) throw invalidField(field, `must name one of the files: ${names}`)
  return file
}
