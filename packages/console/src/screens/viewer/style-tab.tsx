/** Style: three bands, an expression or one band, with its colours and its range. */
import type { ReactElement } from 'react'
import { ProblemError } from '../../api/problem.ts'
import { sharedMap } from '../../map/shared-map.ts'
import { useRange } from '../../state/use-presets.ts'
import { contentOf, formatRange, parseRange, tileQuery, tileUrl, type Preset, type Style, type StyleChange } from '../../state/style.ts'
import { Button, copyText, Segmented } from '../../ui/kit.ts'
import { Skeleton } from '../../ui/states.tsx'
import type { Band } from './band.ts'
import { ColormapPicker } from './colormap-picker.tsx'
import { rampOf, useColormaps } from '../../state/colormaps.ts'
import { PresetChips } from './preset-chips.tsx'
import { SaveProfile } from './save-profile.tsx'
import { Stretch } from './stretch.tsx'
import { StyleContent } from './style-content.tsx'
import { useDistribution } from './use-distribution.ts'
import { ITEM_LAYER } from './use-item-on-map.ts'
import type { ItemStyle } from './use-item-style.ts'
import { classes } from '../../ui/classes.ts'
import workspaceStyles from '../../parts/workspace.module.css'
import ui from '../../ui/ui.module.css'

interface StyleTabParts {
  itemId: string
  assetKey: string | null
  bands: readonly Band[]
  presets: readonly Preset[]
  style: Style
  check: ItemStyle['check']
  mayWrite: boolean
  onStyle(change: StyleChange): void
  /** The range or the colours are about to change. */
  onAdjust(): void
}

export function StyleTab({ itemId, assetKey, bands, presets, style, check, mayWrite, onStyle, onAdjust }: StyleTabParts): ReactElement {
  const values = useRange(itemId, style, assetKey, style.kind !== 'expression')
  const ranges = style.kind === 'expression' ? check : values
  const maps = useColormaps()
  const changeKind = (kind: Style['kind']) => {
    const colormap = style.colormap ?? 'viridis'
    if (kind === 'colour') onStyle({ preset: presets.find((preset) => preset.style.kind === 'colour')?.id ?? '' })
    if (kind === 'band') onStyle({ bands: [1], colormap })
    if (kind === 'expression')
      onStyle({ expression: presets.find((preset) => preset.style.expression)?.style.expression ?? 'b1', colormap })
  }
  return (
    <>
      <div className={classes(workspaceStyles.section, ui.flexColumn, ui.gap12)}>
        <Segmented
          wide
          label="Style type"
          value={style.kind}
          onChange={changeKind}
          options={[
            ...(bands.length >= 3 ? [{ value: 'colour' as const, text: 'RGB' }] : []),
            { value: 'expression', text: 'Expression' },
            { value: 'band', text: 'Single band' },
          ]}
        />
        <StyleContent {...{ style, bands, mayWrite, onStyle }} error={ranges.error} isChecking={ranges.isFetching} />
        <PresetChips presets={presets} style={style} onPick={(preset) => onStyle({ preset: preset.id })} />
      </div>
      <div className={workspaceStyles.section} onPointerEnter={onAdjust} onFocus={onAdjust}>
        <StretchSection {...{ itemId, assetKey, style, ranges, onStyle }} ramp={rampOf(maps.find(({ id }) => id === style.colormap))} />
      </div>
      {style.kind !== 'colour' && (
        <div className={workspaceStyles.section} onPointerEnter={onAdjust} onFocus={onAdjust}>
          <h3>Colormap</h3>
          <ColormapPicker
            maps={maps}
            chosen={style.colormap}
            onPick={(colormap) => onStyle({ ...contentOf(style), colormap, rescale: style.rescale })}
          />
        </div>
      )}
      <div className={classes(workspaceStyles.section, ui.flexColumn, ui.gap8)}>
        {mayWrite && <SaveProfile itemId={itemId} assetKey={assetKey} style={style} />}
        <Button icon="copy" onClick={() => void copyText(tileUrl(itemId, tileQuery(style, assetKey)), 'Tile URL copied')}>
          Copy tile URL
        </Button>
        {mayWrite && (
          <p className={classes(ui.soft, ui.small)}>Profiles are shared with the project. Tiles, WMTS and share links use them too.</p>
        )}
      </div>
    </>
  )
}

/** Without the name of a field. */
const textOf = (error: Error) => (error instanceof ProblemError && error.errors[0]?.message) || error.message

interface StretchSectionParts {
  itemId: string
  assetKey: string | null
  style: Style
  ranges: ReturnType<typeof useRange>
  ramp: string
  onStyle(change: StyleChange): void
}

/** The stretch, once the range of the values is known. */
function StretchSection({ itemId, assetKey, style, ranges, ramp, onStyle }: StretchSectionParts): ReactElement {
  const histogram = useDistribution(itemId, assetKey, style)
  // What is wrong with an expression is said beside its field.
  if (ranges.isError && !ranges.data && style.kind === 'expression') return <p className={classes(ui.soft, ui.small)}>No range yet.</p>
  if (ranges.isError && !ranges.data) return <p className={classes(ui.soft, ui.small)}>No range: {textOf(ranges.error)}</p>
  const { min = null, max = null, p2 = min, p98 = max } = ranges.data ?? {}
  if (!ranges.data) return <Skeleton rows={2} />
  if (min === null || max === null) return <p className={classes(ui.soft, ui.small)}>No valid pixels.</p>
  const values = { min, max, p2: p2 ?? min, p98: p98 ?? max }
  return (
    <Stretch
      values={values}
      range={parseRange(style.rescale) ?? [values.p2, values.p98]}
      ramp={style.kind === 'colour' ? rampOf(undefined) : ramp}
      histogram={histogram}
      onPreview={(range) => sharedMap().previewRange(ITEM_LAYER, range)}
      onChange={(range) => onStyle({ ...contentOf(style), rescale: range && formatRange(range) })}
    />
  )
}
