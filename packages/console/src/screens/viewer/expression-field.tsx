/** Band math, checked while it is typed: what is wrong is said below, with its character underlined. */
import { useEffect, useState, type ReactElement } from 'react'
import { headline, ProblemError } from '../../api/problem.ts'
import { ExpressionBox, type ExpressionState } from '../../parts/expression-box.tsx'
import type { Band } from './band.ts'
import { classes } from '../../ui/classes.ts'
import styles from './expression-field.module.css'
import fieldStyles from '../../ui/field.module.css'
import ui from '../../ui/ui.module.css'

const TYPING_MS = 350

interface ExpressionFieldParts {
  expression: string
  bands: readonly Band[]
  error: Error | null
  isChecking: boolean
  onChange(expression: string): void
}

/** Only what the service says about the expression itself makes it invalid: a file can be at fault too, or the connection. */
function faultOf(error: Error): { state: 'invalid' | 'unchecked'; text: string } {
  if (!(error instanceof ProblemError)) return { state: 'unchecked', text: `The expression could not be computed: ${headline(error)}` }
  const [first] = error.errors
  const text = first?.message ?? error.message
  // The service gives the character of a mistake, or names the field.
  if (first?.field.includes('expression') || / at character \d+/.test(text)) return { state: 'invalid', text }
  return { state: 'unchecked', text: `The expression could not be computed: ${text}` }
}

export function ExpressionField({ expression, bands, error, isChecking, onChange }: ExpressionFieldParts): ReactElement {
  const [text, setText] = useState(expression)
  useEffect(() => setText(expression), [expression])
  useEffect(() => {
    if (text === expression || text.trim() === '') return
    const timer = setTimeout(() => onChange(text), TYPING_MS)
    return () => clearTimeout(timer)
    // oxlint-disable-next-line exhaustive-deps
  }, [text])
  const fault = error && faultOf(error)
  const state: ExpressionState = text !== expression || isChecking ? 'checking' : fault ? fault.state : 'valid'
  return (
    <div>
      <ExpressionBox
        id="expression"
        hint={`over ${bands.map(({ name }) => name).join(', ')}`}
        value={text}
        state={state}
        onChange={setText}
      />
      {fault && state === fault.state && <ExpressionProblem text={text} problem={fault.text} />}
      <p className={fieldStyles.help}>
        <span className={ui.mono}>b1</span> … <span className={ui.mono}>b{bands.length}</span>, + − * /, abs sqrt log exp min max where
      </p>
    </div>
  )
}

function ExpressionProblem({ text, problem }: { text: string; problem: string }): ReactElement {
  const index = Number(/at character (\d+)/.exec(problem)?.[1] ?? 0) - 1
  return (
    <div className={fieldStyles.error} role="alert">
      {index >= 0 && (
        <p className={classes(ui.mono, ui.breakAnywhere)} aria-hidden="true">
          {text.slice(0, index)}
          <mark className={styles.invalid}>{text[index] ?? '\u00a0'}</mark>
          {text.slice(index + 1)}
        </p>
      )}
      <p>{problem}</p>
    </div>
  )
}
