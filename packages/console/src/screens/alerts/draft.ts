/** An alert rule that is being edited. It is kept in the address, so that a reload or a shared link loses nothing. */
import type { AlertRule } from '../../api/contract.ts'
import { decodeArea, encodeArea } from '../../map/geo.ts'
import { COMPARISONS, type Comparison } from './rule-text.ts'

export interface Draft {
  name: string
  description: string
  /** Empty for all collections. */
  collection: string
  on: 'created' | 'updated' | 'both'
  expression: string
  /** The band number of each name in the expression. */
  mapping: Readonly<Record<string, number>>
  comparison: Comparison
  /** As typed. */
  threshold: string
  upper: string
  tell: 'inbox' | 'webhook' | 'both'
  quiet: string
  area: GeoJSON.Polygon | null
}

const EVENTS = { created: ['item.created'], updated: ['item.updated'], both: ['item.created', 'item.updated'] } as const
const CHANNELS = { inbox: ['in_app'], webhook: ['webhook'], both: ['in_app', 'webhook'] } as const

const MAX_ADDRESS_POINTS = 80

const mappingText = (mapping: Draft['mapping']) =>
  Object.entries(mapping)
    .map(([name, band]) => `${name}:${band}`)
    .join(' ')

export const parseMapping = (text: string): Record<string, number> =>
  Object.fromEntries(
    [...text.matchAll(/([A-Za-z_]\w*)\s*[:=]\s*b?(\d+)/g)].map(([, name, band]): [string, number] => [name!, Number(band)]),
  )

export function draftOf(rule: AlertRule): Draft {
  const has = (list: readonly string[], value: string) => list.includes(value)
  return {
    name: rule.name,
    description: rule.description ?? '',
    collection: rule.collection_id ?? '',
    on: has(rule.event_types, 'item.updated') ? (has(rule.event_types, 'item.created') ? 'both' : 'updated') : 'created',
    expression: rule.expression,
    mapping: rule.band_mapping,
    comparison: rule.comparison,
    threshold: String(rule.threshold),
    upper: rule.threshold_upper === null ? '' : String(rule.threshold_upper),
    tell: has(rule.notification_channels, 'in_app') ? (has(rule.notification_channels, 'webhook') ? 'both' : 'inbox') : 'webhook',
    quiet: String(rule.cooldown_minutes),
    area: rule.aoi_geometry as GeoJSON.Polygon | null,
  }
}

const oneOf = <T extends string>(text: string | undefined, of: readonly T[], otherwise: T): T =>
  of.find((each) => each === text) ?? otherwise

export function fromAddress(url: Readonly<Record<string, string>>, base: Draft): Draft {
  return {
    name: url['name'] ?? base.name,
    description: url['note'] ?? base.description,
    collection: url['collection'] ?? base.collection,
    on: oneOf(url['on'], ['created', 'updated', 'both'], base.on),
    expression: url['expr'] ?? base.expression,
    mapping: url['bands'] === undefined ? base.mapping : parseMapping(url['bands']),
    comparison: oneOf(
      url['is'],
      COMPARISONS.map(({ value }) => value),
      base.comparison,
    ),
    threshold: url['at'] ?? base.threshold,
    upper: url['to'] ?? base.upper,
    tell: oneOf(url['tell'], ['inbox', 'webhook', 'both'], base.tell),
    quiet: url['quiet'] ?? base.quiet,
    area: url['area'] === undefined ? base.area : decodeArea(url['area']),
  }
}

const areaText = (area: Draft['area']) => (area === null ? '' : encodeArea(area))
const isTooLong = (area: Draft['area']) => area !== null && area.coordinates[0]!.length > MAX_ADDRESS_POINTS

/** Unchanged fields are left out of the address, and so is an area with more points than an address can hold. */
export function toAddress(draft: Draft, base: Draft): Record<string, string | null> {
  const parts: [string, string, string][] = [
    ['name', draft.name, base.name],
    ['note', draft.description, base.description],
    ['collection', draft.collection, base.collection],
    ['on', draft.on, base.on],
    ['expr', draft.expression, base.expression],
    ['bands', mappingText(draft.mapping), mappingText(base.mapping)],
    ['is', draft.comparison, base.comparison],
    ['at', draft.threshold, base.threshold],
    ['to', draft.upper, base.upper],
    ['tell', draft.tell, base.tell],
    ['quiet', draft.quiet, base.quiet],
    ['area', isTooLong(draft.area) ? areaText(base.area) : areaText(draft.area), areaText(base.area)],
  ]
  return Object.fromEntries(parts.map(([key, now, before]) => [key, now === before ? null : now]))
}

/** The input of `alerts.rules.create` and `update`, and what is still missing. */
export function termsOf(draft: Draft) {
  const threshold = Number(draft.threshold)
  const upper = draft.comparison === 'between' ? Number(draft.upper) : null
  const missing =
    draft.expression.trim() === ''
      ? 'an expression'
      : draft.threshold.trim() === '' || !Number.isFinite(threshold)
        ? 'a threshold'
        : upper !== null && (draft.upper.trim() === '' || !Number.isFinite(upper) || upper < threshold)
          ? 'an upper limit above the lower one'
          : null
  return {
    missing: missing ?? (draft.name.trim() === '' ? 'a name' : null),
    isComplete: missing === null,
    terms: {
      name: draft.name,
      description: draft.description || null,
      collection_id: draft.collection || null,
      event_types: [...EVENTS[draft.on]],
      expression: draft.expression,
      comparison: draft.comparison,
      threshold,
      threshold_upper: upper,
      band_mapping: { ...draft.mapping },
      aoi_geometry: draft.area,
      notification_channels: [...CHANNELS[draft.tell]],
      cooldown_minutes: Number(draft.quiet),
    },
  }
}
