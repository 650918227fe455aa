/** Positions in the write-ahead log, which PostgreSQL writes as `16/B374D848`. */
export type Lsn = bigint

export function parseLsn(text: string): Lsn {
  const [high, low] = text.split('/')
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
}

export const later = (a: Lsn, b: Lsn): Lsn => (a > b ? a : b)
