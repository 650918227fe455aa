/** Style: three bands, an expression or one band, its colours and its range. */
import { useEffect, useState, type ReactElement } from 'react'
import type { Colormap } from '../../api/contract.ts'
import { ProblemError } from '../../api/problem.ts'
import { useAct, useOp } from '../../api/query.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Badge, Button, Check, Choice, Field, Segmented, copyText } from '../../ui/kit.ts'
import { FormProblem, Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { Formulas } from './formulas.tsx'
import { useDistribution } from './histogram.tsx'
import { parseRange, tileQuery, tilesOf, useRange, type Look, type Preset } from '../../state/style.ts'
import { Stretch } from './stretch.tsx'
import { classes } from '../../ui/classes.ts'
import expressionBoxStyles from '../../parts/expression-box.module.css'
import workspaceStyles from '../../parts/workspace.module.css'
import styles from './viewer.module.css'
import chipStyles from '../../ui/chip.module.css'
import fieldStyles from '../../ui/field.module.css'
import ui from '../../ui/ui.module.css'

interface Band {
  index: number
  name: string
  role: string | null
}

interface StyleParts {
  itemId: string
  assetKey: string | null
  bands: readonly Band[]
  presets: readonly Preset[]
  look: Look
  mayWrite: boolean
  onLook(look: Partial<Look> & { preset?: string }): void
}

const INDEX_NAMES = 6

export function StyleTab(parts: StyleParts): ReactElement {
  const { itemId, assetKey, bands, presets, look, mayWrite, onLook } = parts
  const distribution = useDistribution(itemId, assetKey, look)
  const ranges = useRange(itemId, look, assetKey, look.kind !== 'expression' || look.expression !== '')
  const maps = useColormaps()
  const stats = ranges.data
  const range = parseRange(look.rescale) ?? (stats && stats.p2 !== null && stats.p98 !== null ? [stats.p2, stats.p98] : null)
  const ramp = look.kind === 'colour' ? 'linear-gradient(90deg,#000,#fff)' : rampOf(maps.find(({ id }) => id === look.colormap))
  const kinds = [
    ...(bands.length >= 3 ? [{ value: 'colour' as const, text: 'Colour' }] : []),
    { value: 'expression' as const, text: 'Expression' },
    { value: 'band' as const, text: 'One band' },
  ]
  const change = (kind: Look['kind']) => {
    if (kind === 'colour') onLook({ preset: presets.find((preset) => preset.look.kind === 'colour')?.id ?? '' })
    if (kind === 'expression')
      onLook({
        expression: presets.find((preset) => preset.look.expression)?.look.expression ?? 'b1',
        colormap: look.colormap ?? 'viridis',
        rescale: null,
      })
    if (kind === 'band') onLook({ bands: [1], colormap: look.colormap ?? 'viridis', rescale: null })
  }
  return (
    <>
      <div className={classes(workspaceStyles.section, ui.flexColumn, ui.gap12)}>
        <Segmented wide label="Kind of look" value={look.kind} onChange={change} options={kinds} />
        {look.kind === 'colour' && (
          <BandChoice bands={bands} chosen={look.bands ?? [1, 2, 3]} onChange={(chosen) => onLook({ bands: chosen, rescale: null })} />
        )}
        {look.kind === 'band' && (
          <Choice
            label="Band"
            value={String(look.bands?.[0] ?? 1)}
            onChange={(event) => onLook({ bands: [Number(event.target.value)], colormap: look.colormap, rescale: null })}
            options={bands.map(({ index, name }) => ({ value: String(index), text: `b${index} ${name}` }))}
          />
        )}
        {look.kind === 'expression' && (
          <ExpressionBox
            expression={look.expression ?? ''}
            bands={bands}
            error={ranges.error}
            isChecking={ranges.isFetching}
            onChange={(expression) => onLook({ expression, colormap: look.colormap, rescale: null })}
          />
        )}
        {look.kind === 'expression' && <Formulas look={look} bands={bands} mayWrite={mayWrite} onLook={onLook} />}
        <PresetChips presets={presets} look={look} onPick={(preset) => onLook({ preset: preset.id })} />
      </div>
      <div className={workspaceStyles.section}>
        {stats && stats.min !== null && stats.max !== null && range ? (
          <Stretch
            min={stats.min}
            max={stats.max}
            p2={stats.p2 ?? stats.min}
            p98={stats.p98 ?? stats.max}
            range={range as [number, number]}
            ramp={ramp}
            histogram={distribution}
            onChange={(next) =>
              onLook({ ...keep(look), rescale: next ? next.map((value) => Number(value.toPrecision(6))).join(',') : null })
            }
          />
        ) : ranges.isError ? (
          <p className={classes(ui.soft, ui.small)}>No range: {ranges.error.message}</p>
        ) : (
          <Skeleton rows={2} />
        )}
      </div>
      {look.kind !== 'colour' && (
        <div className={workspaceStyles.section}>
          <h3>Colour map</h3>
          <ColormapPicker
            maps={maps}
            chosen={look.colormap}
            onPick={(colormap) => onLook({ ...keep(look), colormap, rescale: look.rescale })}
          />
        </div>
      )}
      <div className={classes(workspaceStyles.section, ui.flexColumn, ui.gap8)}>
        {mayWrite && <SaveProfile itemId={itemId} assetKey={assetKey} look={look} />}
        <Button icon="copy" onClick={() => void copyText(tilesOf(itemId, tileQuery(look, assetKey)), 'The tile address is copied')}>
          Copy tile URL
        </Button>
        {mayWrite && (
          <p className={classes(ui.soft, ui.small)}>A profile is shared with the project and used by tiles, WMTS and share links.</p>
        )}
      </div>
    </>
  )
}

const keep = ({ kind, bands, expression }: Look): Partial<Look> => (kind === 'expression' ? { expression } : { bands: bands ?? undefined })

function BandChoice({
  bands,
  chosen,
  onChange,
}: {
  bands: readonly Band[]
  chosen: readonly number[]
  onChange(chosen: number[]): void
}): ReactElement {
  const options = bands.map(({ index, name }) => ({ value: String(index), text: `b${index} ${name}` }))
  return (
    <div className={ui.triple}>
      {['Red', 'Green', 'Blue'].map((channel, at) => (
        <Choice
          key={channel}
          label={channel}
          value={String(chosen[at] ?? 1)}
          options={options}
          onChange={(event) => onChange([...chosen].with(at, Number(event.target.value)))}
        />
      ))}
    </div>
  )
}

const TYPING_MS = 350

interface ExpressionParts {
  expression: string
  bands: readonly Band[]
  error: Error | null
  isChecking: boolean
  onChange(expression: string): void
}

function ExpressionBox({ expression, bands, error, isChecking, onChange }: ExpressionParts): ReactElement {
  const [text, setText] = useState(expression)
  useEffect(() => setText(expression), [expression])
  useEffect(() => {
    if (text === expression || text.trim() === '') return
    const timer = setTimeout(() => onChange(text), TYPING_MS)
    return () => clearTimeout(timer)
    // oxlint-disable-next-line exhaustive-deps
  }, [text])
  const problem = error instanceof ProblemError ? (error.errors[0]?.message ?? error.message) : null
  const state = text !== expression || isChecking ? 'checking' : problem ? 'wrong' : 'valid'
  return (
    <div>
      <label className={fieldStyles.label} htmlFor="expression">
        Expression <span className={ui.soft}>over {bands.map(({ name }) => name).join(', ')}</span>
      </label>
      <div className={expressionBoxStyles.expressionBox}>
        <input
          id="expression"
          spellCheck={false}
          autoCapitalize="off"
          value={text}
          aria-invalid={state === 'wrong'}
          aria-describedby="expression-state"
          onChange={(event) => setText(event.target.value)}
        />
        <span id="expression-state">
          {state === 'valid' && <Badge tone="ok">valid</Badge>}
          {state === 'checking' && <Badge>checking</Badge>}
          {state === 'wrong' && <Badge tone="bad">wrong</Badge>}
        </span>
      </div>
      {state === 'wrong' && problem && <Wrong text={text} problem={problem} />}
      <p className={fieldStyles.help}>
        <span className={ui.mono}>b1</span> … <span className={ui.mono}>b{bands.length}</span>, + − * /, abs sqrt log exp min max where
      </p>
    </div>
  )
}

/** What is wrong, and the character that it is about underlined. */
function Wrong({ text, problem }: { text: string; problem: string }): ReactElement {
  const at = Number(/at character (\d+)/.exec(problem)?.[1] ?? 0) - 1
  return (
    <div className={classes(fieldStyles.help, ui.danger)} role="alert">
      {at >= 0 && (
        <p className={classes(ui.mono, ui.breakAnywhere)} aria-hidden="true">
          {text.slice(0, at)}
          <mark className={styles.wrong}>{text[at] ?? '\u00a0'}</mark>
          {text.slice(at + 1)}
        </p>
      )}
      <p>{problem}</p>
    </div>
  )
}

function PresetChips({ presets, look, onPick }: { presets: readonly Preset[]; look: Look; onPick(preset: Preset): void }): ReactElement {
  const [all, setAll] = useState(false)
  const fitting = presets.filter((preset) => preset.look.kind === look.kind || preset.isProfile)
  const shown = all ? fitting : fitting.slice(0, INDEX_NAMES)
  return (
    <div className={classes(ui.flexRow, ui.gap6, ui.wrap)} role="group" aria-label="Looks">
      {shown.map((preset) => (
        <button
          key={preset.id}
          type="button"
          className={preset.id === look.id ? classes(chipStyles.chip, chipStyles.selected) : chipStyles.chip}
          aria-pressed={preset.id === look.id}
          title={preset.description}
          onClick={() => onPick(preset)}
        >
          {preset.label}
          {preset.isProfile && <span className={ui.soft}>saved</span>}
        </button>
      ))}
      {fitting.length > INDEX_NAMES && (
        <button type="button" className={chipStyles.chip} aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Fewer' : `${fitting.length - INDEX_NAMES} more`}
        </button>
      )}
    </div>
  )
}

export function useColormaps(): readonly Colormap[] {
  const maps = useOp('cog.colormaps', {}, { staleTime: 3_600_000 })
  return (maps.data?.groups ?? []).flatMap(({ colormaps }) => colormaps)
}

export function rampOf(map: Colormap | undefined): string {
  if (!map) return 'linear-gradient(90deg,#000,#fff)'
  return `linear-gradient(90deg,${map.stops.map(({ position, color }) => `${color} ${Math.round(position * 100)}%`).join(',')})`
}

const FIRST_MAPS = ['viridis', 'cividis', 'magma', 'rdylgn', 'brbg', 'blues', 'gray', 'terrain', 'inferno']

function ColormapPicker({
  maps,
  chosen,
  onPick,
}: {
  maps: readonly Colormap[]
  chosen: string | null
  onPick(id: string): void
}): ReactElement {
  const [all, setAll] = useState(false)
  const rank = (id: string) => (FIRST_MAPS.includes(id) ? FIRST_MAPS.indexOf(id) : 99)
  const ordered = maps.toSorted((a, b) => rank(a.id) - rank(b.id))
  const shown = all ? ordered : ordered.filter(({ id }, index) => index < INDEX_NAMES || id === chosen)
  return (
    <>
      <div className={styles.colormaps} role="group" aria-label="Colour map">
        {shown.map((map) => (
          <button
            key={map.id}
            type="button"
            className={map.id === chosen ? styles.selected : ''}
            aria-pressed={map.id === chosen}
            onClick={() => onPick(map.id)}
          >
            <i style={{ background: rampOf(map) }} />
            {map.name}
          </button>
        ))}
      </div>
      {maps.length > INDEX_NAMES && (
        <button type="button" className={classes(ui.asLink, ui.marginTop8)} onClick={() => setAll(!all)}>
          {all ? 'Fewer' : `All ${maps.length}`}
        </button>
      )}
    </>
  )
}

function SaveProfile({ itemId, assetKey, look }: { itemId: string; assetKey: string | null; look: Look }): ReactElement {
  const [open, setOpen] = useState(false)
  const [name, setName] = useState('')
  const [isDefault, setDefault] = useState(false)
  const save = useAct('visualization.profile.create', ['visualization', 'items.tile'])
  const type = look.kind === 'expression' ? 'expression' : look.kind === 'colour' ? 'rgb' : 'singleband'
  const send = () =>
    save.mutate(
      {
        item_id: itemId,
        name,
        type,
        is_default: isDefault,
        config: {
          bands: look.expression ? null : [...(look.bands ?? [])],
          expression: look.expression,
          colormap: look.colormap,
          rescale: look.rescale,
        },
        asset_key: assetKey,
      },
      {
        onSuccess: () => {
          toast(`${name} is saved`)
          setOpen(false)
        },
      },
    )
  return (
    <>
      <Button variant="primary" onClick={() => setOpen(true)}>
        Save as profile
      </Button>
      {open && (
        <Dialog title="Save as profile" onClose={() => setOpen(false)}>
          <form
            className={classes(ui.flexColumn, ui.gap12)}
            onSubmit={(event) => {
              event.preventDefault()
              send()
            }}
          >
            <Field label="Name" required maxLength={100} data-autofocus value={name} onChange={(event) => setName(event.target.value)} />
            <Check checked={isDefault} onChange={setDefault}>
              Show the item like this from now on
            </Check>
            <FormProblem error={save.error} />
            <Button type="submit" variant="primary" busy={save.isPending}>
              Save
            </Button>
          </form>
        </Dialog>
      )}
    </>
  )
}
