/** Numbers, money, areas and times, formatted the same way everywhere. */
const whole = new Intl.NumberFormat('en-AU', { maximumFractionDigits: 0 })
const money = new Intl.NumberFormat('en-AU', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
const few = new Intl.NumberFormat('en-AU', { maximumFractionDigits: 1 })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
const shortDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' })

export const count = (value: number) => whole.format(value)
export const aud = (value: number) => `A$${money.format(value)}`
const CREDITS_PER_AUD = 100
export const audOfCredits = (credits: number) => aud(credits / CREDITS_PER_AUD)
export const date = (value: string | null | undefined) => (value ? day.format(new Date(value)) : '–')
export const dateShort = (value: string | null | undefined) => (value ? shortDay.format(new Date(value)) : '–')
export const dateTime = (value: string | null | undefined) =>
  value ? `${day.format(new Date(value))}, ${clock.format(new Date(value))} UTC` : '–'
/** The time of an event; with its day, unless that is today. */
export const timeSince = (value: string, now: Date) => {
  const at = new Date(value)
  return `${day.format(at) === day.format(now) ? '' : `${shortDay.format(at)}, `}${clock.format(at)} UTC`
}
export const dateTimeShort = (value: string) => `${shortDay.format(new Date(value))}, ${clock.format(new Date(value))}`
export const localTime = (value: string) => new Date(value).toLocaleString()

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

export function bytes(value: number): string {
  let unit = 0
  let shown = value
  // Rounded first: 999,999 bytes are 1 MB, not 1,000 kB.
  while (Math.round(shown) >= 1000 && unit < BYTE_UNITS.length - 1) {
    shown /= 1000
    unit++
  }
  return `${shown >= 100 || unit === 0 ? whole.format(shown) : few.format(shown)} ${BYTE_UNITS[unit]}`
}

export const area = (squareMetres: number) =>
  squareMetres >= 1e6 ? `${few.format(squareMetres / 1e6)} km²` : `${few.format(squareMetres / 1e4)} ha`

const hundredths = new Intl.NumberFormat('en-AU', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
/** For a size that changes while it is looked at. */
export const exactArea = (squareMetres: number) =>
  squareMetres >= 1e6 ? `${hundredths.format(squareMetres / 1e6)} km²` : `${hundredths.format(squareMetres / 1e4)} ha`

const fewDigits = new Intl.NumberFormat('en-AU', { maximumSignificantDigits: 2 })
/** A limit or a size in km²; below 1 with the digits that matter, because 0.1 km² is not 0. */
export const squareKilometres = (value: number) => `${value > 0 && value < 1 ? fewDigits.format(value) : few.format(value)} km²`

export const metres = (value: number | null | undefined) =>
  value == null ? '–' : value < 0.1 ? `${few.format(value * 100)} cm` : `${few.format(value)} m`

export const percent = (value: number | null | undefined) => (value == null ? '–' : `${few.format(value)}%`)

/** A measured value with the digits that matter. */
export function value(number: number | null | undefined): string {
  if (number == null) return '–'
  if (number === 0) return '0'
  const size = Math.abs(number)
  if (size >= 1000) return whole.format(number)
  if (size >= 10) return few.format(number)
  return number.toFixed(size >= 0.01 ? 3 : 5)
}

export function ago(iso: string): string {
  const minutes = Math.round((Date.now() - Date.parse(iso)) / 60_000)
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes} min ago`
  const hours = Math.round(minutes / 60)
  return hours < 24 ? `${hours} h ago` : date(iso)
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
const lettersOf = (word: string) => Array.from(graphemes.segment(word), ({ segment }) => segment)

/** Of the first and the last word; of a single word, its first two letters. */
export function initials(name: string): string {
  const words = name.split(/\s+/).filter(Boolean).map(lettersOf)
  const letters = words.length > 1 ? [words[0]![0], words.at(-1)![0]] : (words[0] ?? []).slice(0, 2)
  return letters.join('').toUpperCase()
}
export const plural = (number: number, singular: string, many = `${singular}s`) =>
  `${whole.format(number)} ${number === 1 ? singular : many}`
export const shortId = (id: string) => (id.length > 18 ? `${id.slice(0, 13)}…` : id)
