/** Positions in the input of `uploads.complete`. */
import Type, { type Static } from 'typebox'
import { invalidField } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import { MAX_FILES_PER_SESSION, type UploadFile, type UploadPosition } from '#model/imagery/upload-file.ts'
import { positionFault } from '#raster/ingest/position.ts'

const MAX_GCPS = 1_000

const ControlPoint = Closed({
  column: Type.Number({ description: 'Pixels from the left edge of the image' }),
  row: Type.Number({ description: 'Pixels from the top edge of the image' }),
  x: Type.Number({ description: 'X coordinate (easting or longitude) in units of `crs`' }),
  y: Type.Number({ description: 'Y coordinate (northing or latitude) in units of `crs`' }),
})

const FilePosition = Closed({
  file_name: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, description: 'File name; optional if the session has one file' })),
  crs: Type.String({ minLength: 1, maxLength: 40, description: 'EPSG code of `bounds` or `gcps`, for example EPSG:32633' }),
  bounds: Type.Optional(
    Type.Array(Type.Number(), {
      minItems: 4,
      maxItems: 4,
      description: 'Outer edges of the image: left, bottom, right, top, in units of `crs`',
    }),
  ),
  gcps: Type.Optional(
    Type.Array(ControlPoint, {
      minItems: 3,
      maxItems: MAX_GCPS,
      description: 'Ground control points (GCPs). The image is positioned by an affine fit through them',
    }),
  ),
})

export const Positions = Type.Array(FilePosition, {
  maxItems: MAX_FILES_PER_SESSION,
  description:
    'Positions of images without a usable georeference. A position replaces the one in the file; with `crs` alone, the transform ' +
    'in the file is read in that system',
})

/** By file ID. 422 for a position of an unknown file, or an invalid position. */
export function positionsOf(input: Static<typeof Positions>, files: readonly UploadFile[]): Map<string, UploadPosition> {
  const positions = new Map<string, UploadPosition>()
  for (const [index, { file_name: name, ...position }] of input.entries()) {
    const field = (part: string): string => `positions.${index}.${part}`
    const file = fileOf(name, files, field('file_name'))
    if (positions.has(file.id)) throw invalidField(field('file_name'), `${file.name} appears twice`)
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
  if (!file)
    throw invalidField(field, `is not a file of this session${names === '' ? ', which has no files yet' : `; its files are ${names}`}`)
  if (candidates.length > 1) throw invalidField(field, `must be one of ${names}`)
  return file
}
