/** The STAC Fields extension: some fields of a feature instead of all. */
import type { Feature } from '#model/imagery/stac.ts'

interface Fields {
  include?: string[]
  exclude?: string[]
}

type Json = Record<string, unknown>
type Part = Partial<Feature> & Pick<Feature, 'type' | 'id'>

/** What a feature is not readable without. */
const ALWAYS: readonly string[] = ['type', 'id', 'stac_version', 'links', 'assets', 'geometry', 'bbox', 'collection', 'properties.datetime']
const NEEDED: readonly string[] = ['type', 'id']
/** Names that objects have by themselves are no fields. */
const isOwn = (value: Json, name: string): boolean => Object.hasOwn(value, name)

/**
 * Only exclusions: everything but those. Inclusions: these, on top of what makes a feature readable; an exclusion wins where
 * it is the more specific, or names one of the latter. Empty lists are as none.
 */
export function picker(fields: Fields | null): (feature: Feature) => Feature | Part {
  const [include, exclude] = [clean(fields?.include), clean(fields?.exclude)]
  if (include.length === 0 && exclude.length === 0) return (feature) => feature
  const dropped = exclude.filter((path) => !NEEDED.includes(path) && !include.includes(path))
  const kept = include.length === 0 ? null : [...ALWAYS.filter((path) => !exclude.includes(path)), ...include]
  return (feature) => {
    const whole: Json = { ...feature }
    const made = kept ? copied(whole, kept) : whole
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
