/** A one-line editor for band math that says whether the expression is valid. */
import type { ReactElement, ReactNode } from 'react'
import { Badge } from '../ui/kit.ts'
import styles from './expression-box.module.css'
import fieldStyles from '../ui/field.module.css'
import ui from '../ui/ui.module.css'

/** `unchecked`: something else failed, for example the file. */
export type ExpressionState = 'valid' | 'checking' | 'invalid' | 'unchecked' | null

const TEXTS = { valid: 'Valid', checking: 'Checking', invalid: 'Invalid', unchecked: 'Not computed' } as const
const TONES = { valid: 'ok', checking: '', invalid: 'bad', unchecked: 'warn' } as const

interface ExpressionBoxParts {
  /** Of the input, unique in the page. */
  id: string
  hint: string
  value: string
  state: ExpressionState
  /** Said after the state, for example which bands it reads. */
  detail?: ReactNode
  onChange(value: string): void
}

export function ExpressionBox({ id, hint, value, state, detail, onChange }: ExpressionBoxParts): ReactElement {
  return (
    <>
      <label className={fieldStyles.label} htmlFor={id}>
        Expression <span className={ui.soft}>{hint}</span>
      </label>
      <div className={styles.expressionBox}>
        <input
          id={id}
          spellCheck={false}
          autoCapitalize="off"
          value={value}
          aria-invalid={state === 'invalid'}
          aria-describedby={`${id}-state`}
          onChange={(event) => onChange(event.target.value)}
        />
        <span id={`${id}-state`}>
          {state && (
            <Badge tone={TONES[state]}>
              <span>
                {TEXTS[state]}
                {detail}
              </span>
            </Badge>
          )}
        </span>
      </div>
    </>
  )
}
