/** The 256 colours of Matplotlib's well-known colormaps, three bytes each, in hexadecimal. */
import tables from './tables.json' with { type: 'json' }

export const TABLES: Readonly<Record<string, string>> = tables
