/** The 256 colours, three bytes each in hexadecimal, of the colormaps that everyone knows by the names Matplotlib gave them. */
import tables from './tables.json' with { type: 'json' }

export const TABLES: Readonly<Record<string, string>> = tables
