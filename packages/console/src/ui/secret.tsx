import { useState, type ReactElement } from 'react'
import { Button } from './button.tsx'
import { classes } from './classes.ts'
import { CopyButton } from './copy.tsx'
import styles from './secret.module.css'
import ui from './ui.module.css'

/** Shown once: a key, a secret, a link. */
export function Secret({ text, label }: { text: string; label: string }): ReactElement {
  const [shown, setShown] = useState(false)
  return (
    <div className={styles.secret}>
      <output className={classes(ui.mono, ui.grow, ui.ellipsis)} aria-label={label}>
        {shown ? text : `${text.slice(0, 10)}${'•'.repeat(24)}${text.slice(-4)}`}
      </output>
      <Button size="s" onClick={() => setShown(!shown)}>
        {shown ? 'Hide' : 'Show'}
      </Button>
      <CopyButton text={text} variant="primary" />
    </div>
  )
}
