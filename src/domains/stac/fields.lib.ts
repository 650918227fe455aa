/** The STAC Fields extension: some fields of a feature instead of all. */
import type { Feature } from '#model/imagery/stac.ts'

interface Fields {
  include?: string[]
  exclude?: string[]
}

type Json = Record<string, unknown>
type Part = Partial<Feature> & Pick<Feature, 'type' | 'id'>

/** What is shown where a caller asks for no field in particular but wants few. */
const STANDARD = ['type', 'stac_version', 'id', 'collection', 'geometry', 'bbox', 'links', 'assets', 'properties.datetime']
/** What a feature is nothing without. */
const NEEDED = ['type', 'id']
const READABLE = [...NEEDED, 'collection', 'links']
/** Names that objects have by themselves are no fields. */
const isOwn = (value: Json, name: string): boolean => Object.hasOwn(value, name)

/**
 * Exclusions alone: everything but those. An empty list of inclusions beside them: the standard fields but those. Inclusions:
 * these, and what makes a feature readable; where a field or a part of it is both included and excluded, it is included.
 */
export function picker(fields: Fields | null): (feature: Feature) => Feature | Part {
  const [include, exclude] = [clean(fields?.include), clean(fields?.exclude)]
  if (include.length === 0 && exclude.length === 0) return (feature) => feature
  const standard = include.length > 0 ? READABLE : fields?.include ? STANDARD : null
  const dropped = exclude.filter((path) => !NEEDED.includes(path) && !include.some((kept) => kept === path || kept.startsWith(`${path}.`)))
  return (feature) => {
    const whole: Json = { ...feature }
    const made = standard ? copied(whole, [...standard, ...include]) : whole
    for (const path of dropped) remove(made, path.split('.'))
    return made as Part
  }
}

const clean = (paths: readonly string[] | undefined): string[] => (paths ?? []).map((path) => path.trim()).filter((path) => path !== '')

/** A name with dots may be one member or a path; the member comes first, as extensions do not use dots. */
function copied(from: Json, paths: readonly string[]): Json {
  const made: Json = {}
  for (const path of paths) copy(from, made, path)
  return made
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

/** Copies what it changes: the feature itself is left as it was. */
function remove(from: Json, [name, ...rest]: readonly string[]): void {
  if (name === undefined || !isOwn(from, name)) return
  if (rest.length === 0) return void delete from[name]
  const inner = from[name]
  if (inner === null || typeof inner !== 'object' || Array.isArray(inner)) return
  const changed: Json = { ...(inner as Json) }
  from[name] = changed
  remove(changed, rest)
}
