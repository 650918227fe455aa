export const TABS = ['Style', 'Pixel', 'Statistics', 'Metadata'] as const
/** Beside the map there is no room on a phone: what the left panel shows is a tab there. */
export const PHONE_TABS = [...TABS, 'Layers'] as const
export type Tab = (typeof PHONE_TABS)[number]

/** The tab that the address names. */
export const tabOf = (text: string | undefined, isPhone: boolean): Tab =>
  (isPhone ? PHONE_TABS : TABS).find((name) => name.toLowerCase() === text) ?? 'Style'
