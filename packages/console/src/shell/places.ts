/** The screens that the rail, the bar on phones and the palette lead to. */
import type { IconName } from '../ui/icons.tsx'
import type { PlainPath } from '../ui/kit.ts'

export interface Place {
  to: PlainPath
  icon: IconName
  text: string
  /** The letter after G. */
  letter?: string
  also?: readonly string[]
}

export const WORK: readonly Place[] = [
  { to: '/explore', icon: 'globe', text: 'Explore', letter: 'e' },
  { to: '/library', icon: 'layers', text: 'Library', letter: 'l', also: ['/view', '/maps', '/compare', '/shares', '/reports'] },
  { to: '/orders', icon: 'cart', text: 'Orders', letter: 'o' },
  { to: '/tasking', icon: 'sat', text: 'Tasking', letter: 't' },
  { to: '/uploads', icon: 'up', text: 'Uploads', letter: 'u' },
  { to: '/jobs', icon: 'bolt', text: 'Jobs', letter: 'j', also: ['/processes', '/clips', '/mosaics'] },
  { to: '/alerts', icon: 'bell', text: 'Monitor', letter: 'm', also: ['/inbox'] },
  { to: '/lineage', icon: 'flow', text: 'Lineage' },
]
export const RUN: readonly Place[] = [
  { to: '/develop/keys', icon: 'code', text: 'Develop', also: ['/develop'] },
  { to: '/billing', icon: 'card', text: 'Billing', letter: 'b' },
  { to: '/team', icon: 'users', text: 'Team' },
]
export const PHONE = WORK.filter(({ text }) => ['Explore', 'Library', 'Orders', 'Monitor'].includes(text))

export const PLACES: readonly Place[] = [...WORK, ...RUN]
