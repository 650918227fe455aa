/** How often values occur: a bar for each part of their range, from the lowest to the highest. */
import type { ReactElement, ReactNode } from 'react'
import { classes } from './classes.ts'
import { value } from './format.ts'
import styles from './bars.module.css'
import ui from './ui.module.css'

const WIDTH = 300
const HEIGHT = 90

interface BarsParts {
  label: string
  low: number
  high: number
  counts: readonly number[]
  /** A custom property. */
  colour: string
  /** Between the lowest and the highest value. */
  caption?: ReactNode
  className?: string | undefined
}

export function Bars({ label, low, high, counts, colour, caption, className }: BarsParts): ReactElement {
  const tallest = Math.max(1, ...counts)
  const width = WIDTH / counts.length
  return (
    <figure className={className}>
      <svg className={styles.bars} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {counts.map((amount, bin) => {
          const height = (amount / tallest) * (HEIGHT - 4)
          return <rect key={bin} x={bin * width} y={HEIGHT - height} width={width - 0.6} height={height} fill={`var(${colour})`} />
        })}
      </svg>
      <figcaption className={classes(ui.flexRow, ui.between, ui.faint, ui.tiny, ui.numeric)}>
        <span>{value(low)}</span>
        {caption && <span>{caption}</span>}
        <span>{value(high)}</span>
      </figcaption>
    </figure>
  )
}
