/** The STAC Fields extension: returns some fields of a feature instead of all. */
import type { Feature } from '#model/imagery/stac.ts'

interface Fields {
  include?: string[]
  exclude?: string[]
}

type Json = Record<string, unknown>
type Part = Partial<Feature> & Pick<Feature, 'type' | 'id'>

/** The fields of an empty `include` list. */
const DEFAULT_FIELDS = ['type', 'stac_version', 'id', 'collection', 'geometry', 'bbox', 'links', 'assets', 'properties.datetime']
/** Fields that cannot be excluded. */
const REQUIRED_FIELDS = ['type', 'id']
const BASIC_FIELDS = [...REQUIRED_FIELDS, 'collection', 'links']
/** Inherited members, such as `constructor`, are not fields. */
const isOwn = (value: Json, name: string): boolean => Object.hasOwn(value, name)

/**
 * With `exclude` alone, everything except those fields. With an empty `include`, the default fields except those. Otherwise
 * the included and the basic fields; a field that is both included and excluded is included.
 */
export function picker(fields: Fields | null): (feature: Feature) => Feature | Part {
  const [include, exclude] = [clean(fields?.include), clean(fields?.exclude)]
  if (include.length === 0 && exclude.length === 0) return (feature) => feature
  const fixedFields = include.length > 0 ? BASIC_FIELDS : fields?.include ? DEFAULT_FIELDS : null
  const dropped = exclude.filter(
    (path) => !REQUIRED_FIELDS.includes(path) && !include.some((kept) => kept === path || kept.startsWith(`${path}.`)),
  )
  return (feature) => {
    const whole: Json = { ...feature }
    const part = fixedFields ? pick(whole, [...fixedFields, ...include]) : whole
    for (const path of dropped) remove(part, path.split('.'))
    return part as Part
  }
}

const clean = (paths: readonly string[] | undefined): string[] => (paths ?? []).map((path) => path.trim()).filter((path) => path !== '')

/** A name with dots can be a member or a path; a member takes precedence. */
function pick(from: Json, paths: readonly string[]): Json {
  const part: Json = {}
  for (const path of paths) copy(from, part, path)
  return part
}

function copy(from: Json, to: Json, path: string): void {
  if (isOwn(from, path)) return void (to[path] = from[path])
  const dot = path.indexOf('.')
  if (dot === -1) return
  const [name, rest] = [path.slice(0, dot), path.slice(dot + 1)]
  const inner = isOwn(from, name) ? from[name] : undefined
  if (inner === null || typeof inner !== 'object' || Array.isArray(inner)) return
  const existing = isOwn(to, name) ? to[name] : {}
  if (existing === inner) return
  to[name] = existing
  copy(inner as Json, existing as Json, rest)
}

/** Copies the objects that it changes, so that the feature stays intact. */
function remove(from: Json, [name, ...rest]: readonly string[]): void {
  if (name === undefined || !isOwn(from, name)) return
  if (rest.length === 0) return void delete from[name]
  const inner = from[name]
  if (inner === null || typeof inner !== 'object' || Array.isArray(inner)) return
  const changed: Json = { ...(inner as Json) }
  from[name] = changed
  remove(changed, rest)
}
