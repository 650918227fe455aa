/** Formulas that the organization keeps: picked for this item, kept from it, taken away. */
import { useState, type ReactElement } from 'react'
import type { BandFormula } from '../../api/contract.ts'
import { useAct, useOp } from '../../api/query.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Button, Field } from '../../ui/kit.ts'
import { FormProblem } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import type { Look } from '../../state/style.ts'
import { classes } from '../../ui/classes.ts'
import chipStyles from '../../ui/chip.module.css'
import ui from '../../ui/ui.module.css'

interface Band {
  index: number
  role: string | null
}

const ROLE = /\b[A-Z][A-Z0-9]+\b/g
const NUMBER = /\bb(\d+)\b/gi

/** The formula with this item's bands in it; null where one is missing. */
function onItem(formula: string, bands: readonly Band[]): string | null {
  const numbers = new Map(bands.flatMap(({ role, index }) => (role ? [[role.toUpperCase(), `b${index}`] as const] : [])))
  const isThere = [...formula.matchAll(NUMBER)].every(([, number]) => Number(number) <= bands.length)
  const roles = [...formula.matchAll(ROLE)].map(([role]) => role).filter((role) => !/^B\d+$/.test(role))
  if (!isThere || roles.some((role) => !numbers.has(role))) return null
  return formula.replaceAll(ROLE, (role) => numbers.get(role) ?? role)
}

/** Bands by what they measure, so that the formula fits other sensors too. */
const forAll = (expression: string, bands: readonly Band[]): string =>
  expression.replaceAll(NUMBER, (text, number) => bands.find(({ index }) => index === Number(number))?.role?.toUpperCase() ?? text)

interface FormulaParts {
  look: Look
  bands: readonly Band[]
  mayWrite: boolean
  onLook(look: Partial<Look>): void
}

export function Formulas({ look, bands, mayWrite, onLook }: FormulaParts): ReactElement {
  const [open, setOpen] = useState(false)
  const saved = useOp('band_formulas.list', { category: 'custom' }, { staleTime: 60_000 })
  const fitting = (saved.data?.formulas ?? [])
    .filter(({ is_builtin }) => !is_builtin)
    .flatMap((formula) => {
      const expression = onItem(formula.formula, bands)
      return expression === null ? [] : [{ formula, expression }]
    })
  const pick = ({ colormap, rescale }: BandFormula, expression: string) => onLook({ expression, colormap, rescale })
  if (fitting.length === 0 && !mayWrite) return <></>
  return (
    <div className={classes(ui.flexRow, ui.gap6, ui.wrap)} role="group" aria-label="Saved formulas">
      {fitting.map(({ formula, expression }) => (
        <button
          key={formula.id}
          type="button"
          className={expression === look.expression ? classes(chipStyles.chip, chipStyles.selected) : chipStyles.chip}
          aria-pressed={expression === look.expression}
          title={formula.formula}
          onClick={() => pick(formula, expression)}
        >
          {formula.display_name ?? formula.name}
        </button>
      ))}
      {mayWrite && (
        <button type="button" className={ui.asLink} onClick={() => setOpen(true)}>
          {fitting.length === 0 ? 'Save formula' : 'Keep or remove formulas'}
        </button>
      )}
      {open && (
        <FormulaDialog
          look={look}
          text={forAll(look.expression ?? '', bands)}
          kept={(saved.data?.formulas ?? []).filter(({ is_builtin }) => !is_builtin)}
          onClose={() => setOpen(false)}
        />
      )}
    </div>
  )
}

interface DialogParts {
  look: Look
  /** What would be kept. */
  text: string
  kept: readonly BandFormula[]
  onClose(): void
}

function FormulaDialog({ look, text, kept, onClose }: DialogParts): ReactElement {
  const [name, setName] = useState('')
  const create = useAct('band_formulas.create', ['band_formulas'])
  const remove = useAct('band_formulas.delete', ['band_formulas'])
  const range = look.rescale?.split(',').map(Number)
  const keep = () =>
    create.mutate(
      {
        name,
        formula: text,
        ...(look.colormap ? { colormap: look.colormap } : {}),
        ...(range ? { value_range: [range[0]!, range[1]!] } : {}),
      },
      {
        onSuccess: () => {
          toast(`${name} is kept`)
          onClose()
        },
      },
    )
  return (
    <Dialog title="Formulas of the organization" onClose={onClose}>
      <form
        className={classes(ui.flexColumn, ui.gap12)}
        onSubmit={(event) => {
          event.preventDefault()
          keep()
        }}
      >
        <p className={classes(ui.mono, ui.breakAnywhere)}>{text}</p>
        <Field
          label="Name"
          required
          minLength={2}
          maxLength={50}
          data-autofocus
          value={name}
          onChange={(event) => setName(event.target.value)}
          help="Everybody in the organization finds it under the expression, on every item that has these bands."
        />
        <FormProblem error={create.error} />
        <Button type="submit" variant="primary" busy={create.isPending}>
          Keep
        </Button>
      </form>
      {kept.length > 0 && (
        <ul className={classes(ui.flexColumn, ui.gap4, ui.marginTop16)} aria-label="Kept formulas">
          {kept.map((formula) => (
            <li key={formula.id} className={classes(ui.flexRow, ui.gap8)}>
              <b>{formula.display_name ?? formula.name}</b>
              <span className={classes(ui.mono, ui.soft, ui.grow, ui.ellipsis)}>{formula.formula}</span>
              <Button
                size="s"
                variant="danger"
                label={`Remove ${formula.name}`}
                icon="x"
                busy={remove.isPending}
                onClick={() => remove.mutate({ formula_id: formula.id }, { onError: (error) => void toast(error.message, 'bad') })}
              />
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  )
}
