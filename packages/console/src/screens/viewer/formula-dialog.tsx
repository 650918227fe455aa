/** Saves the current expression as a formula of the organization, and deletes saved ones. */
import { useState, type ReactElement } from 'react'
import type { BandFormula } from '../../api/contract.ts'
import { useAct } from '../../api/query.ts'
import { parseRange, type Style } from '../../state/style.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Button, Field } from '../../ui/kit.ts'
import { FormProblem } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { classes } from '../../ui/classes.ts'
import ui from '../../ui/ui.module.css'

interface FormulaDialogParts {
  style: Style
  /** What would be saved. */
  formula: string
  saved: readonly BandFormula[]
  onClose(): void
}

export function FormulaDialog({ style, formula, saved, onClose }: FormulaDialogParts): ReactElement {
  const [name, setName] = useState('')
  const create = useAct('band_formulas.create', ['band_formulas'])
  const range = parseRange(style.rescale)
  const save = () =>
    create.mutate(
      { name, formula, ...(style.colormap ? { colormap: style.colormap } : {}), ...(range ? { value_range: range } : {}) },
      {
        onSuccess: () => {
          toast(`Saved formula “${name}”`)
          onClose()
        },
      },
    )
  return (
    <Dialog title="Formulas" onClose={onClose}>
      <form
        className={classes(ui.flexColumn, ui.gap12)}
        onSubmit={(event) => {
          event.preventDefault()
          save()
        }}
      >
        <p className={classes(ui.mono, ui.breakAnywhere)}>{formula}</p>
        <Field
          label="Name"
          required
          minLength={2}
          maxLength={50}
          data-autofocus
          value={name}
          onChange={(event) => setName(event.target.value)}
          help="Available to your organization on every item with these bands."
        />
        <FormProblem error={create.error} />
        <Button type="submit" variant="primary" busy={create.isPending}>
          Save formula
        </Button>
      </form>
      {saved.length > 0 && <SavedFormulas formulas={saved} />}
    </Dialog>
  )
}

function SavedFormulas({ formulas }: { formulas: readonly BandFormula[] }): ReactElement {
  const remove = useAct('band_formulas.delete', ['band_formulas'])
  return (
    <ul className={classes(ui.flexColumn, ui.gap4, ui.marginTop16)} aria-label="Saved formulas">
      {formulas.map(({ id, name, display_name, formula }) => (
        <li key={id} className={classes(ui.flexRow, ui.gap8)}>
          <b>{display_name ?? name}</b>
          <span className={classes(ui.mono, ui.soft, ui.grow, ui.ellipsis)}>{formula}</span>
          <Button
            size="s"
            variant="danger"
            label={`Delete ${name}`}
            icon="x"
            busy={remove.isPending}
            onClick={() => remove.mutate({ formula_id: id }, { onError: (error) => void toast(error.message, 'bad') })}
          />
        </li>
      ))}
    </ul>
  )
}
