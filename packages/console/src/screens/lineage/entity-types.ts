/** The kinds of things that lineage is about: their names, icons, colours and lanes. */
import type { IconName } from '../../ui/icons.tsx'

interface EntityType {
  name: string
  icon: IconName
  colour: string
  /** Title of the lane that it is drawn in. */
  lane: string
}

const TYPES: Readonly<Record<string, EntityType>> = {
  project: { name: 'Project', icon: 'folder', colour: 'var(--c6)', lane: 'Projects' },
  order: { name: 'Order', icon: 'cart', colour: 'var(--c2)', lane: 'Orders' },
  collection: { name: 'Collection', icon: 'folder', colour: 'var(--c5)', lane: 'Collections' },
  item: { name: 'Item', icon: 'image', colour: 'var(--c1)', lane: 'Items' },
  asset: { name: 'File', icon: 'down', colour: 'var(--c1)', lane: 'Files' },
  processing_job: { name: 'Job', icon: 'bolt', colour: 'var(--c3)', lane: 'Jobs' },
  share_link: { name: 'Share link', icon: 'share', colour: 'var(--c4)', lane: 'Share links and reports' },
  report: { name: 'Report', icon: 'down', colour: 'var(--c4)', lane: 'Share links and reports' },
}

const OTHERS = 'Other'
/** From top to bottom. */
export const LANES: readonly string[] = [...new Set(Object.values(TYPES).map(({ lane }) => lane)), OTHERS]

/** A type that is not in the table is named as the contract names it. */
export const entityType = (type: string): EntityType =>
  Object.hasOwn(TYPES, type) ? TYPES[type]! : { name: words(type), icon: 'graph', colour: 'var(--c6)', lane: OTHERS }

/** Relations are named from the result to its source. An arrow leads the other way, and so does its label. */
const ARROWS: Readonly<Record<string, string>> = {
  created_in: 'contains',
  uploaded: 'received',
  ordered: 'ordered',
  delivered_for: 'delivered',
  used: 'used by',
  produced_by: 'produced',
  derived_from: 'derived',
  duplicated_from: 'duplicated',
}

export const arrowText = (relation: string): string =>
  Object.hasOwn(ARROWS, relation) ? ARROWS[relation]! : words(relation).toLocaleLowerCase('en')

export function words(name: string): string {
  const text = name.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
