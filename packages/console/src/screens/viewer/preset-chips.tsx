import { useState, type ReactElement } from 'react'
import type { Preset, Style } from '../../state/style.ts'
import { isPreset } from './use-item-style.ts'
import { classes } from '../../ui/classes.ts'
import chipStyles from '../../ui/chip.module.css'
import ui from '../../ui/ui.module.css'

const SHOWN_FIRST = 6

interface PresetChipsParts {
  presets: readonly Preset[]
  style: Style
  onPick(preset: Preset): void
}

/** Presets of the same kind as the style, and all profiles. */
export function PresetChips({ presets, style, onPick }: PresetChipsParts): ReactElement {
  const [all, setAll] = useState(false)
  const fitting = presets.filter((preset) => preset.style.kind === style.kind || preset.isProfile)
  const shown = all ? fitting : fitting.slice(0, SHOWN_FIRST)
  return (
    <div className={classes(ui.flexRow, ui.gap6, ui.wrap)} role="group" aria-label="Styles">
      {shown.map((preset) => (
        <button
          key={preset.id}
          type="button"
          className={isPreset(style, preset) ? classes(chipStyles.chip, chipStyles.selected) : chipStyles.chip}
          aria-pressed={isPreset(style, preset)}
          title={preset.description}
          onClick={() => onPick(preset)}
        >
          {preset.label}
          {preset.isProfile && <span className={ui.soft}>saved</span>}
        </button>
      ))}
      {fitting.length > SHOWN_FIRST && (
        <button type="button" className={chipStyles.chip} aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : `${fitting.length - SHOWN_FIRST} more`}
        </button>
      )}
    </div>
  )
}
