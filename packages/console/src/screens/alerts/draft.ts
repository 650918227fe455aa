/** A rule that is being written: kept in the address, so that a reload or a link loses nothing. */
import { useEffect, useState } from 'react'
import type { AlertRule } from '../../api/contract.ts'
import { decodeArea, encodeArea } from '../../map/geo.ts'
import { useUrl } from '../../state/url.ts'
import { COMPARISONS, type Comparison } from './rule-text.ts'

export interface Draft {
  name: string
  description: string
  /** Empty: every collection. */
  collection: string
  on: 'created' | 'updated' | 'both'
  expression: string
  /** Names of the expression and their bands. */
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

const TYPING_MS = 300
const MAX_ADDRESS_POINTS = 80

const mappingText = (mapping: Draft['mapping']) =>
  Object.entries(mapping)
    .map(([name, band]) => `${name}:${band}`)
    .join(' ')

export const parseMapping = (text: string): Record<string, number> =>
  Object.fromEntries(
    [...text.matchAll(/([A-Za-z_]\w*)\s*[:=]\s*b?(\d{1,2})/g)].map(([, name, band]): [string, number] => [name!, Number(band)]),
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

function fromAddress(url: Readonly<Record<string, string>>, base: Draft): Draft {
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

/** What is as it was at first is left out of the address. */
function toAddress(draft: Draft, base: Draft): Record<string, string | null> {
  const area = draft.area && draft.area.coordinates[0]!.length <= MAX_ADDRESS_POINTS ? encodeArea(draft.area) : ''
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
    ['area', draft.area === base.area ? '' : area, ''],
  ]
  return Object.fromEntries(parts.map(([key, now, before]) => [key, now === before ? null : now]))
}

export function useDraft(base: Draft): [Draft, (patch: Partial<Draft>) => void] {
  const [url, setUrl] = useUrl()
  const [draft, setDraft] = useState(() => fromAddress(url, base))
  useEffect(() => {
    const timer = setTimeout(() => setUrl(toAddress(draft, base)), TYPING_MS)
    return () => clearTimeout(timer)
    // The base is where one began; it never changes while one writes.
    // oxlint-disable-next-line exhaustive-deps
  }, [draft, setUrl])
  return [draft, (patch) => setDraft((before) => ({ ...before, ...patch }))]
}

/** The rule as the service takes it, or what is missing. */
export function termsOf(draft: Draft) {
  const threshold = Number(draft.threshold)
  const upper = draft.comparison === 'between' ? Number(draft.upper) : null
  const missing =
    draft.expression.trim() === ''
      ? 'an expression'
      : draft.threshold.trim() === '' || !Number.isFinite(threshold)
        ? 'a threshold'
        : upper !== null && (draft.upper.trim() === '' || !Number.isFinite(upper) || upper < threshold)
          ? 'an upper end above the lower one'
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
