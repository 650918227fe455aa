/** The kinds of things that lineage is about: their names, icons and colours. */
import type { IconName } from '../../ui/icons.tsx'

interface EntityType {
  name: string
  icon: IconName
  colour: string
}

const TYPES: Readonly<Record<string, EntityType>> = {
  item: { name: 'Item', icon: 'image', colour: 'var(--c1)' },
  order: { name: 'Order', icon: 'cart', colour: 'var(--c2)' },
  processing_job: { name: 'Job', icon: 'bolt', colour: 'var(--c3)' },
  share_link: { name: 'Share link', icon: 'share', colour: 'var(--c4)' },
  collection: { name: 'Collection', icon: 'folder', colour: 'var(--c5)' },
  project: { name: 'Project', icon: 'folder', colour: 'var(--c6)' },
}

/** A type that is not in the table is named as the contract names it. */
export const entityType = (type: string): EntityType =>
  Object.hasOwn(TYPES, type) ? TYPES[type]! : { name: words(type), icon: 'graph', colour: 'var(--c6)' }

export function words(name: string): string {
  const text = name.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
