/** Parses execute requests of OGC API – Processes: qualified values, references, bounding boxes, outputs. */
import { invalidField } from '#core/problem.ts'
import { JOB_OUTPUTS } from '#core/vocabulary.ts'

/** The requested outputs, as one document or as the raw value of a single output. */
export interface Form {
  outputs: readonly string[] | null
  response: 'raw' | 'document'
}

/** From the body of an execute request, or from the query of a results request. */
export function formOf({ outputs, response }: Readonly<Record<string, unknown>>): Form {
  if (response !== undefined && response !== 'raw' && response !== 'document')
    throw invalidField('response', 'must be one of raw, document')
  return { outputs: outputs === undefined ? null : outputsOf(outputs), response: response ?? 'document' }
}

function outputsOf(given: unknown): string[] {
  const isNamed = typeof given === 'object' && given !== null && !Array.isArray(given)
  if (typeof given !== 'string' && !isNamed) throw invalidField('outputs', 'must be an object with a member for each output')
  const names = typeof given === 'string' ? given.split(',') : Object.keys(given as object)
  const unknown = names.find((name) => !(JOB_OUTPUTS as readonly string[]).includes(name))
  if (unknown !== undefined) throw invalidField(`outputs.${unknown}`, `unknown output; use ${JOB_OUTPUTS.join(', ')}`)
  for (const [name, wish] of isNamed ? Object.entries(given as Record<string, { transmissionMode?: unknown } | null>) : [])
    if (wish?.transmissionMode !== undefined && wish.transmissionMode !== 'value')
      throw invalidField(`outputs.${name}.transmissionMode`, 'must be `value`; the files of items have their own URLs')
  return names
}

const QUALIFIERS = ['value', 'mediaType', 'encoding', 'schema', 'format']

/** Resolves a qualified value, a reference or a bounding box to a plain value. */
export function inputValue(given: unknown, field: string): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
  const names = Object.keys(given)
  if (names.includes('value') && names.every((name) => QUALIFIERS.includes(name))) return (given as { value: unknown }).value
  if ('href' in given) return referenced(String(given.href), field)
  if ('bbox' in given && names.every((name) => name === 'bbox' || name === 'crs')) return boxOf(given as Box, field)
  return given
}

/** Only data: URLs are resolved: the service fetches nothing for an input. */
function referenced(href: string, field: string): unknown {
  const [, type = '', base64, text] = /^data:([\w.+-]+\/[\w.+-]+)?(?:;charset=[\w-]+)?(;base64)?,(.*)$/s.exec(href) ?? []
  if (text === undefined) throw invalidField(`${field}.href`, 'must be a data: URL; otherwise send the value itself')
  try {
    const content = base64 ? Buffer.from(text, 'base64').toString() : decodeURIComponent(text)
    return /\bjson$/.test(type) ? (JSON.parse(content) as unknown) : content
  } catch {
    throw invalidField(`${field}.href`, 'must be a data: URL whose content is valid JSON')
  }
}

interface Box {
  bbox: unknown
  crs?: unknown
}

const CRS84 = /^https?:\/\/www\.opengis\.net\/def\/crs\/OGC\/(1\.3\/CRS84|0\/CRS84h)$/

/** Parameters for areas accept polygons only. */
function boxOf({ bbox, crs }: Box, field: string): object {
  if (crs !== undefined && !CRS84.test(String(crs)))
    throw invalidField(`${field}.crs`, 'must be http://www.opengis.net/def/crs/OGC/1.3/CRS84')
  const isBox = Array.isArray(bbox) && (bbox.length === 4 || bbox.length === 6) && bbox.every((each) => Number.isFinite(each))
  if (!isBox) throw invalidField(`${field}.bbox`, 'must have 4 or 6 numbers')
  const [west, south] = bbox as number[]
  const [east, north] = (bbox.length === 4 ? bbox.slice(2) : bbox.slice(3)) as number[]
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  return { type: 'Polygon', coordinates: [ring] }
}
