import { loadLater } from '../../ui/load-later.tsx'

/** Loaded when it is first shown: it brings the code of the charts. */
export const TimeSeries = loadLater(async () => (await import('./time-series.tsx')).TimeSeries)
