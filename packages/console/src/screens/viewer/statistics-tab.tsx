/** Numbers of a drawn polygon: mean, deviation, percentiles, histogram; as a table and as CSV. */
import { useEffect, useState, type ReactElement } from 'react'
import type { Asset, BandStatistics, Item } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { areaOf, type Box, boxPolygon } from '../../map/geo.ts'
import { theStage } from '../../map/stage.ts'
import { area as areaText, count, value } from '../../ui/format.ts'
import { Button, Segmented } from '../../ui/kit.tsx'
import { Empty, Failed, Skeleton } from '../../ui/states.tsx'
import { saveCsv } from '../../ui/csv.ts'
import type { Look } from './look.ts'

export function StatisticsTab({ item, asset, look }: { item: Item; asset: Asset; look: Look }): ReactElement {
  const [shape, setShape] = useState<GeoJSON.Polygon | null>(null)
  const [drawing, setDrawing] = useState(false)
  useEffect(() => {
    theStage().setArea(shape)
    return () => theStage().setArea(null)
  }, [shape])
  const draw = async (mode: 'polygon' | 'rectangle') => {
    setDrawing(true)
    const { drawArea } = await import('../../map/draw.ts')
    drawArea(theStage(), mode, (drawn) => {
      setDrawing(false)
      if (drawn) setShape(drawn)
    })
  }
  return (
    <>
      <div className="sec row g6 wrap">
        <Button size="s" icon="poly" onClick={() => void draw('polygon')} disabled={drawing}>
          Polygon
        </Button>
        <Button size="s" icon="rect" onClick={() => void draw('rectangle')} disabled={drawing}>
          Rectangle
        </Button>
        {item.bbox && (
          <Button size="s" onClick={() => setShape(boxPolygon(middleOf(item.bbox as Box)))}>
            The middle
          </Button>
        )}
        {shape && (
          <Button size="s" look="quiet" onClick={() => setShape(null)}>
            Clear
          </Button>
        )}
      </div>
      {shape ? (
        <Numbers item={item} asset={asset} look={look} shape={shape} />
      ) : (
        <Empty icon="hist" title={drawing ? 'Draw on the map' : 'Choose a place to measure'}>
          The numbers are of what is shown: {look.expression ?? (look.bands ? `bands ${look.bands.join(', ')}` : 'all bands')}.
        </Empty>
      )}
    </>
  )
}

/** A quarter of each side, in the middle: something to measure without drawing. */
function middleOf([west, south, east, north]: Box): Box {
  const part = (low: number, high: number, share: number) => low + (high - low) * share
  return [part(west, east, 0.375), part(south, north, 0.375), part(west, east, 0.625), part(south, north, 0.625)]
}

function Numbers({ item, asset, look, shape }: { item: Item; asset: Asset; look: Look; shape: GeoJSON.Polygon }): ReactElement {
  const [at, setAt] = useState(0)
  const query = useOp(
    'cog.statistics',
    {
      url: asset.href,
      geometry: shape as unknown as Record<string, unknown>,
      ...(look.expression ? { expression: look.expression } : look.bands ? { bands: look.bands.join(',') } : {}),
      percentiles: [2, 10, 25, 50, 75, 90, 98],
    },
    { staleTime: 600_000 },
  )
  if (query.isError) return <Failed error={query.error} retry={() => void query.refetch()} />
  if (!query.data) return <Skeleton rows={5} />
  const all = query.data.statistics
  const band = all[Math.min(at, all.length - 1)]
  if (!band || band.count === 0)
    return (
      <Empty icon="hist" title="No values there">
        Every pixel in it is masked or outside the image.
      </Empty>
    )
  const rows = rowsOf(band)
  return (
    <div className="sec col g12">
      <div className="row between">
        <b>{areaText(areaOf(shape))}</b>
        <span className="soft sm">{count(query.data.pixel_count)} pixels</span>
      </div>
      {all.length > 1 && (
        <Segmented
          label="Band"
          value={String(at)}
          onChange={(next) => setAt(Number(next))}
          options={all.map(({ name }, index) => ({ value: String(index), text: name }))}
        />
      )}
      <Histogram band={band} />
      <table className="tbl slim">
        <tbody>
          {rows.map(([name, number]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td className="n num">{value(number)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Button
        icon="down"
        onClick={() =>
          saveCsv(`${item.name} statistics`, [
            ['band', 'measure', 'value'],
            ...all.flatMap((one) => rowsOf(one).map(([name, number]) => [one.name, name, number ?? ''])),
          ])
        }
      >
        CSV
      </Button>
    </div>
  )
}

function rowsOf(band: BandStatistics): [string, number | null][] {
  return [
    ['Mean', band.mean],
    ['Deviation', band.std],
    ['Lowest', band.min],
    ['Highest', band.max],
    ...band.percentiles.map(({ percentile, value: number }): [string, number | null] => [`P${percentile}`, number]),
    ['Pixels', band.count],
  ]
}

function Histogram({ band }: { band: BandStatistics }): ReactElement {
  const { counts, edges } = band.histogram
  const tallest = Math.max(1, ...counts)
  return (
    <figure>
      <svg
        className="histogram"
        viewBox="0 0 300 90"
        preserveAspectRatio="none"
        role="img"
        aria-label={`Histogram of ${band.name}, from ${value(edges[0])} to ${value(edges.at(-1))}`}
      >
        {counts.map((amount, index) => {
          const height = (amount / tallest) * 86
          return (
            <rect
              key={index}
              x={(index / counts.length) * 300}
              y={90 - height}
              width={300 / counts.length - 0.6}
              height={height}
              fill="var(--c1)"
            />
          )
        })}
      </svg>
      <figcaption className="row between faint xs num">
        <span>{value(edges[0])}</span>
        <span>{value(edges.at(-1))}</span>
      </figcaption>
    </figure>
  )
}
