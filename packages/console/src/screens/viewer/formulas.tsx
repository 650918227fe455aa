/** The organization's saved formulas that fit this item. */
import { useState, type ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import type { Style, StyleChange } from '../../state/style.ts'
import type { Band } from './band.ts'
import { formulaForItem, formulaWithRoles } from './formula-bands.ts'
import { FormulaDialog } from './formula-dialog.tsx'
import { classes } from '../../ui/classes.ts'
import chipStyles from '../../ui/chip.module.css'
import ui from '../../ui/ui.module.css'

interface FormulasParts {
  style: Style
  bands: readonly Band[]
  mayWrite: boolean
  onStyle(change: StyleChange): void
}

export function Formulas({ style, bands, mayWrite, onStyle }: FormulasParts): ReactElement | null {
  const [open, setOpen] = useState(false)
  const listed = useOp('band_formulas.list', { category: 'custom' }, { staleTime: 60_000 })
  const saved = (listed.data?.formulas ?? []).filter(({ is_builtin }) => !is_builtin)
  const fitting = saved.flatMap((formula) => {
    const expression = formulaForItem(formula.formula, bands)
    return expression === null ? [] : [{ formula, expression }]
  })
  if (fitting.length === 0 && !mayWrite) return null
  return (
    <div className={classes(ui.flexRow, ui.gap6, ui.wrap)} role="group" aria-label="Saved formulas">
      {fitting.map(({ formula: { id, name, display_name, formula, colormap, rescale }, expression }) => (
        <button
          key={id}
          type="button"
          className={expression === style.expression ? classes(chipStyles.chip, chipStyles.selected) : chipStyles.chip}
          aria-pressed={expression === style.expression}
          title={formula}
          onClick={() => onStyle({ expression, colormap, rescale })}
        >
          {display_name ?? name}
        </button>
      ))}
      {mayWrite && (
        <button type="button" className={ui.asLink} onClick={() => setOpen(true)}>
          {saved.length === 0 ? 'Save formula' : 'Save or delete formulas'}
        </button>
      )}
      {open && (
        <FormulaDialog
          style={style}
          formula={formulaWithRoles(style.expression ?? '', bands)}
          saved={saved}
          onClose={() => setOpen(false)}
        />
      )}
    </div>
  )
}
