import { useEffect, useMemo, useState } from 'react'
import type { Output } from '../../api/contract.ts'
import { decodeArea, encodeArea } from '../../map/geo.ts'
import type { Values } from '../../parts/schema-values.ts'
import { useUrl } from '../../state/url.ts'

export type Sensor = Output<'orders.tasking.sensors'>['sensors'][number]

const DAY_MS = 86_400_000
const WINDOW_DAYS = 14
const TYPING_MS = 350
/** Each area is a group of the order, with its own study and price. */
const MAX_AREAS = 20

export const collectionOf = (areas: readonly GeoJSON.Polygon[]) => ({
  type: 'FeatureCollection' as const,
  features: areas.map((geometry) => ({ type: 'Feature', properties: {}, geometry })),
})

const dayFrom = (days: number) => `${new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)}T00:00:00Z`

/** Two weeks from tomorrow. */
export const defaultWindow = () => ({ acquisitionStart: dayFrom(1), acquisitionEnd: dayFrom(1 + WINDOW_DAYS) })

/** The areas and requirements, which are in the address: a reload and a shared link give the same form. */
export function useTaskingDraft(sensors: readonly Sensor[]) {
  const [url, setUrl] = useUrl()
  const products = sensors.flatMap((sensor) => sensor.dataProducts.map((product) => ({ sensor, product })))
  const chosen = products.find(({ product }) => product.name === url['product']) ?? products[0]!
  const areas = useMemo(() => (url['areas'] ?? '').split(',').flatMap((text) => decodeArea(text) ?? []), [url['areas']])
  const [values, setValues] = useState<Values>(() => {
    const kept = JSON.parse(url['in'] ?? 'null') as Values | null
    return kept ?? defaultWindow()
  })
  const [params, setParams] = useState(values)
  useEffect(() => {
    const timer = setTimeout(() => {
      setParams(values)
      setUrl({ in: JSON.stringify(values) })
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [values, setUrl])
  const setAreas = (next: readonly GeoJSON.Polygon[]) =>
    setUrl({ areas: next.length === 0 ? null : next.slice(0, MAX_AREAS).map(encodeArea).join(',') })
  const featureCollection = useMemo(() => collectionOf(areas), [areas])
  return { url, setUrl, products, ...chosen, areas, setAreas, values, setValues, params, featureCollection }
}

export type TaskingDraft = ReturnType<typeof useTaskingDraft>
