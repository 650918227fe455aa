/** The values of all bands at a place, and the result of the expression. */
import type { ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import type { Position } from '../../map/geo.ts'
import type { Style } from '../../state/style.ts'
import { value } from '../../ui/format.ts'
import { copyText } from '../../ui/kit.ts'
import { colourOf, type Band } from './band.ts'
import { classes } from '../../ui/classes.ts'
import styles from './pixel-values.module.css'
import progressBarStyles from '../../ui/progress-bar.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

interface PixelParts {
  itemId: string
  assetKey: string | null
  style: Style
  at: Position
}

const usePoint = ({ itemId, assetKey, style, at: [longitude, latitude] }: PixelParts) =>
  useOp(
    'items.point',
    {
      item_id: itemId,
      longitude: Number(longitude.toFixed(6)),
      latitude: Number(latitude.toFixed(6)),
      ...(assetKey ? { asset_key: assetKey } : {}),
      ...(style.expression ? { expression: style.expression } : {}),
    },
    { keep: true, staleTime: 600_000 },
  )

const placeText = ([longitude, latitude]: Position) => `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`
const valueText = (number: number | null) => (number === null ? 'no data' : value(number))

export function PixelValues({ bands: known, ...parts }: PixelParts & { bands: readonly Band[] }): ReactElement {
  const point = usePoint(parts)
  const place = placeText(parts.at)
  if (point.isError && !point.data) return <p className={ui.soft}>{point.error.message}</p>
  const { bands = [], results = [], inside } = point.data ?? {}
  const largest = Math.max(1e-9, ...bands.map((band) => Math.abs(band.value ?? 0)))
  return (
    <>
      <div className={classes(ui.flexRow, ui.between)}>
        <h3>At pointer</h3>
        <button type="button" className={classes(ui.asLink, ui.numeric)} onClick={() => void copyText(place)}>
          {place}
        </button>
      </div>
      {inside === false && <p className={ui.soft}>Outside the image.</p>}
      {inside && (
        <div className={styles.pixelValues}>
          {bands.map((band, index) => (
            <div key={band.band} className={styles.band}>
              <span className={classes(ui.mono, ui.ellipsis)}>
                b{band.band} {band.name}
              </span>
              <span className={classes(progressBarStyles.track, styles.track)}>
                <i
                  style={{
                    width: `${(Math.abs(band.value ?? 0) / largest) * 100}%`,
                    background: colourOf(known.find((each) => each.index === band.band) ?? { ...band, role: null }, index),
                  }}
                />
              </span>
              <b className={classes(ui.numeric, ui.alignEnd)}>{valueText(band.value)}</b>
            </div>
          ))}
          {results.map((result) => (
            <div key={result.expression} className={styles.band}>
              <span className={classes(ui.mono, ui.ellipsis)}>result</span>
              <span />
              <b className={classes(ui.numeric, ui.alignEnd, ui.accent)}>{valueText(result.value)}</b>
            </div>
          ))}
        </div>
      )}
    </>
  )
}

/** A pinned place as a row of a table. */
export function PinRow(parts: PixelParts): ReactElement {
  const { data } = usePoint(parts)
  const values = (data?.results.length ? data.results : (data?.bands ?? [])).map((row) => value(row.value))
  return (
    <tr>
      <td className={ui.mono}>{placeText(parts.at)}</td>
      <td className={classes(tableStyles.number, ui.numeric, styles.pinned)}>
        {data ? (data.inside ? values.join(' ') : 'outside') : '…'}
      </td>
    </tr>
  )
}
