/** The call that a form would make, as it is filled in; nothing is sent. */
import { useState, type ReactElement } from 'react'
import { snippet, type Language } from '../api/snippets.ts'
import { Badge, CopyButton, Segmented } from './kit.ts'
import { classes } from './classes.ts'
import styles from './call-preview.module.css'
import cardStyles from './card.module.css'
import codeStyles from './code.module.css'
import ui from './ui.module.css'

const LANGUAGES: readonly { value: Language; text: string }[] = [
  { value: 'curl', text: 'curl' },
  { value: 'typescript', text: 'TypeScript' },
  { value: 'python', text: 'Python' },
  { value: 'cli', text: 'CLI' },
]

export function CallPreview({ operation, input, isSpend = true }: { operation: string; input: object; isSpend?: boolean }): ReactElement {
  const [language, setLanguage] = useState<Language>(() => (localStorage.getItem('gt-language') as Language | null) ?? 'curl')
  const text = snippet(
    {
      id: 0,
      operation,
      method: 'POST',
      path: `/v1/op/${operation}`,
      body: input,
      idempotencyKey: isSpend ? 'your-idempotency-key' : null,
      status: 0,
      ms: 0,
      screen: '',
    },
    language,
  )
  return (
    <details className={classes(cardStyles.card, styles.preview)}>
      <summary className={classes(ui.flexRow, ui.gap8)}>
        <span className={ui.grow}>
          The call it makes <span className={classes(ui.mono, ui.small, ui.soft)}>{operation}</span>
        </span>
        <Badge>not sent</Badge>
      </summary>
      <div className={classes(cardStyles.body, ui.flexColumn, ui.gap8)}>
        <Segmented label="Language of the call" value={language} options={LANGUAGES} onChange={setLanguage} />
        <pre className={codeStyles.code} tabIndex={0}>
          {text}
        </pre>
        <div>
          <CopyButton text={text} />
        </div>
      </div>
    </details>
  )
}
