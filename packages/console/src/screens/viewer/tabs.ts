export const TABS = ['Style', 'Pixel', 'Statistics', 'Metadata'] as const
export type Tab = (typeof TABS)[number]

/** The tab that the address names. */
export const tabOf = (text: string | undefined): Tab => TABS.find((name) => name.toLowerCase() === text) ?? 'Style'
