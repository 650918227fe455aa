/** The value of a rule on the newest items, as bars with a threshold that can be dragged, moved by keys or typed. */
import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useRef, useState, type KeyboardEvent, type PointerEvent, type ReactElement } from 'react'
import { call } from '../../api/client.ts'
import { useOp } from '../../api/query.ts'
import { boxOf } from '../../map/geo.ts'
import { itemsIn } from '../../state/found-item.ts'
import { AuthImage, tileOf } from '../../ui/auth-image.tsx'
import { date, dateShort, value } from '../../ui/format.ts'
import { Badge, Button, Card } from '../../ui/kit.ts'
import { Empty, Failed, Skeleton } from '../../ui/states.tsx'
import { headline } from '../../api/problem.ts'
import { isMet, maskOf, withNumbers, type Comparison } from './rule-text.ts'
import { classes } from '../../ui/classes.ts'
import styles from './alerts.module.css'
import cardStyles from '../../ui/card.module.css'
import chartsStyles from '../../ui/charts.module.css'
import fieldStyles from '../../ui/field.module.css'
import ui from '../../ui/ui.module.css'

const SHOWN = 12
const LISTED = 4
/** Of this map 0 is black and 1 is orange; laid on like light, black leaves what is below it. */
const MASK_RANGE = '0,1.4'
const KEPT_MS = 600_000

interface Sample {
  id: string
  name: string
  datetime: string | null
  bbox: readonly number[] | null
}

/** The newest items that a rule would have looked at, by acquisition, newest first. */
export function useSamples(collectionId: string) {
  const ofOne = useOp('items.list_by_collection', { collection_id: collectionId, limit: SHOWN }, { enabled: collectionId !== '' })
  const ofAll = useOp('items.search_org', { limit: SHOWN }, { enabled: collectionId === '' })
  const query = collectionId === '' ? ofAll : ofOne
  const samples = useMemo(
    (): Sample[] =>
      (collectionId === ''
        ? itemsIn(ofAll.data)
        : (ofOne.data?.items ?? []).map(({ id, name, datetime, bbox }) => ({ id, name, datetime, bbox }))
      ).toSorted((a, b) => (b.datetime ?? '').localeCompare(a.datetime ?? '')),
    [collectionId, ofAll.data, ofOne.data],
  )
  return { query, samples }
}

interface Terms {
  expression: string
  comparison: Comparison
  threshold: number
  threshold_upper: number | null
  band_mapping: Readonly<Record<string, number>>
  aoi_geometry: GeoJSON.Geometry | null
}

interface TrialParts {
  samples: readonly Sample[]
  query: ReturnType<typeof useSamples>['query']
  terms: Terms
  isComplete: boolean
  /** Where the line may be moved. */
  onThreshold?: ((threshold: number) => void) | undefined
}

export function Trial({ samples, query, terms, isComplete, onThreshold }: TrialParts): ReactElement {
  const asked = {
    expression: terms.expression,
    comparison: 'gt',
    threshold: 0,
    band_mapping: { ...terms.band_mapping },
    aoi_geometry: terms.aoi_geometry,
  }
  // The value does not depend on the threshold: moving the line asks nobody.
  const tests = useQueries({
    queries: samples.map(({ id }) => ({
      queryKey: ['alerts.test_rule', asked, id],
      queryFn: ({ signal }: { signal: AbortSignal }) => call('alerts.test_rule', { rule: asked, item_id: id }, { signal }),
      enabled: terms.expression.trim() !== '',
      staleTime: KEPT_MS,
      retry: false,
    })),
  })
  const results = samples.map((sample, index) => ({
    ...sample,
    value: tests[index]?.data?.computed_value ?? null,
    error: tests[index]?.error ?? null,
  }))
  const isPending = tests.some((test) => test.isLoading)
  const measured = results.filter((result) => result.value !== null)
  const hits = measured.filter((result) => isComplete && isMet(terms, result.value!))
  const first = results.find(({ error }) => error !== null)
  return (
    <>
      <Card
        title={samples.length > 0 ? `Test on the last ${samples.length === 1 ? 'item' : `${samples.length} items`}` : 'Test'}
        aside={
          samples.length > 0 && (
            <Button size="s" icon="play" busy={isPending} onClick={() => tests.forEach((test) => void test.refetch())}>
              Run again
            </Button>
          )
        }
        flush
      >
        {query.isError ? (
          <Failed error={query.error} retry={() => void query.refetch()} />
        ) : query.isPending ? (
          <Skeleton />
        ) : samples.length === 0 ? (
          <Empty icon="image" title="No items to test on">
            The rule is evaluated on the first new item.
          </Empty>
        ) : (
          <>
            <div className={cardStyles.body} aria-live="polite">
              <Bars results={results.toReversed()} terms={terms} isComplete={isComplete} onThreshold={onThreshold} />
              <p className={classes(ui.flexRow, ui.between, ui.marginTop8, ui.small, ui.wrap)}>
                <span>
                  <b>
                    {hits.length} of {measured.length}
                  </b>{' '}
                  <span className={ui.soft}>would have triggered</span>
                </span>
                {onThreshold && <span className={ui.soft}>drag the line, or use the arrow keys</span>}
              </p>
              {first && (
                <p className={fieldStyles.error} role="alert">
                  {results.filter(({ error }) => error !== null).length} could not be measured. {first.name}: {messageOf(first.error)}
                </p>
              )}
            </div>
            <ul className={styles.trialList}>
              {results.slice(0, LISTED).map((result) => (
                <li key={result.id} className={classes(ui.flexRow, ui.gap12)}>
                  <Link className={classes(ui.grow, ui.ellipsis)} to="/view/$item" params={{ item: result.id }}>
                    {result.name}
                  </Link>
                  <span className={classes(ui.soft, ui.small, ui.noWrap)}>{date(result.datetime)}</span>
                  <b className={ui.numeric}>{result.value === null ? '–' : value(result.value)}</b>
                  {result.value === null ? (
                    <Badge>{result.error ? 'no value' : 'measuring'}</Badge>
                  ) : isComplete && isMet(terms, result.value) ? (
                    <Badge tone="bad">would trigger</Badge>
                  ) : (
                    <Badge>no alert</Badge>
                  )}
                </li>
              ))}
            </ul>
          </>
        )}
      </Card>
      {isComplete && <Where sample={hits[0] ?? measured[0] ?? null} isHit={hits.length > 0} terms={terms} />}
    </>
  )
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : headline(error))

/** The item, or the area of the rule in it, and upon it in orange where its pixels are what the rule waits for. */
function Where({ sample, isHit, terms }: { sample: Sample | null; isHit: boolean; terms: Terms }): ReactElement | null {
  if (!sample) return null
  const box = boxOf(terms.aoi_geometry) ?? sample.bbox
  const root = `/api/v1/items/${encodeURIComponent(sample.id)}`
  const expression = maskOf(withNumbers(terms.expression, terms.band_mapping), terms)
  const mask = `?${new URLSearchParams({ expression, rescale: MASK_RANGE, colormap: 'inferno' }).toString()}`
  return (
    <Card
      title={isHit ? 'Where it would have triggered' : 'Pixels that meet the rule'}
      aside={<Badge>{date(sample.datetime)}</Badge>}
      flush
    >
      <div className={styles.where}>
        <AuthImage path={tileOf(root, box)} alt={sample.name} />
        <span className={styles.whereMask}>
          <AuthImage path={tileOf(root, box, mask)} alt={`Orange where ${terms.expression} passes`} />
        </span>
      </div>
    </Card>
  )
}

const WIDTH = 520
const HEIGHT = 190
const LEFT = 44
const BASE = HEIGHT - 24
const TOP = 10

const WANTED_TICKS = 4

/** Round numbers within the range. */
function ticksOf(low: number, high: number): number[] {
  const rough = (high - low) / WANTED_TICKS
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough)!
  const first = Math.ceil(low / step)
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(6)))
}

interface BarParts {
  results: readonly (Sample & { value: number | null })[]
  terms: Terms
  isComplete: boolean
  onThreshold?: ((threshold: number) => void) | undefined
}

function Bars({ results, terms, isComplete, onThreshold }: BarParts): ReactElement {
  const chart = useRef<SVGSVGElement>(null)
  const [isDragged, setDragged] = useState(false)
  const values = results.flatMap((result) => (result.value === null ? [] : [result.value]))
  const ends = [0, ...values, ...(isComplete ? [terms.threshold, terms.threshold_upper ?? terms.threshold] : [])]
  const room = Math.max(1e-9, (Math.max(...ends) - Math.min(...ends)) * 0.08)
  const low = Math.min(0, Math.min(...ends) - (Math.min(...ends) < 0 ? room : 0))
  const high = Math.max(...ends) + room
  const y = (at: number) => BASE - ((at - low) / (high - low)) * (BASE - TOP)
  const x = (index: number) => LEFT + ((index + 0.5) * (WIDTH - LEFT)) / Math.max(1, results.length)
  const wide = Math.min(26, (WIDTH - LEFT) / Math.max(1, results.length) - 8)
  const ticks = ticksOf(low, high)
  const round = (at: number) => Number(at.toPrecision(3))
  const move = (event: PointerEvent) => {
    const box = chart.current!.getBoundingClientRect()
    const at = BASE - ((event.clientY - box.top) / box.height) * HEIGHT
    onThreshold?.(round(low + (at / (BASE - TOP)) * (high - low)))
  }
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowUp: 1, ArrowDown: -1, ArrowRight: 1, ArrowLeft: -1, PageUp: 10, PageDown: -10 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    onThreshold?.(round(terms.threshold + (step * (high - low)) / 100))
  }
  const every = Math.ceil(results.length / 5)
  return (
    <svg ref={chart} className={styles.trial} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="group" aria-label="Value of the rule on each item">
      {ticks.map((tick) => (
        <g key={tick}>
          <line x1={LEFT} x2={WIDTH} y1={y(tick)} y2={y(tick)} stroke="var(--line)" />
          <text className={chartsStyles.axis} x={LEFT - 6} y={y(tick) + 3.5} textAnchor="end">
            {tick}
          </text>
        </g>
      ))}
      {results.map((result, index) => {
        const isHit = result.value !== null && isComplete && isMet(terms, result.value)
        return (
          <g key={result.id}>
            {result.value !== null && (
              <rect
                x={x(index) - wide / 2}
                y={Math.min(y(result.value), y(0))}
                width={wide}
                height={Math.max(1, Math.abs(y(result.value) - y(0)))}
                rx={2.5}
                fill={isHit ? 'var(--bad)' : 'var(--c1)'}
                opacity={isHit ? 1 : 0.75}
              >
                <title>{`${result.name}, ${date(result.datetime)}: ${value(result.value)}${isHit ? ', would trigger' : ''}`}</title>
              </rect>
            )}
            {index % every === 0 && (
              <text className={chartsStyles.axis} x={x(index)} y={HEIGHT - 6} textAnchor="middle">
                {dateShort(result.datetime)}
              </text>
            )}
          </g>
        )
      })}
      {isComplete && terms.threshold_upper !== null && (
        <line x1={LEFT} x2={WIDTH} y1={y(terms.threshold_upper)} y2={y(terms.threshold_upper)} className={styles.trialLine} />
      )}
      {isComplete && (
        <g
          className={onThreshold ? styles.trialHandle : ''}
          {...(onThreshold
            ? {
                tabIndex: 0,
                role: 'slider',
                'aria-orientation': 'vertical' as const,
                'aria-label': 'Threshold',
                'aria-valuemin': round(low),
                'aria-valuemax': round(high),
                'aria-valuenow': terms.threshold,
                onKeyDown: onKey,
                onPointerDown: (event: PointerEvent<SVGGElement>) => {
                  event.currentTarget.setPointerCapture(event.pointerId)
                  setDragged(true)
                },
                onPointerMove: (event: PointerEvent) => isDragged && move(event),
                onPointerUp: () => setDragged(false),
              }
            : {})}
        >
          <rect x={LEFT} y={y(terms.threshold) - 12} width={WIDTH - LEFT} height={24} fill="transparent" />
          <line x1={LEFT} x2={WIDTH} y1={y(terms.threshold)} y2={y(terms.threshold)} className={styles.trialLine} />
          <rect x={WIDTH - 54} y={y(terms.threshold) - 10} width={52} height={20} rx={10} fill="var(--signal)" />
          <text x={WIDTH - 28} y={y(terms.threshold) + 4} textAnchor="middle" className={styles.trialValue}>
            {value(terms.threshold)}
          </text>
        </g>
      )}
    </svg>
  )
}
