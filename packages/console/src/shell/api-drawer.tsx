/** The calls that this screen made, as curl, TypeScript, Python and the command line. The console uses nothing that you cannot. */
import { useEffect, useMemo, useRef, useState, type ReactElement } from 'react'
import { recordedCalls, type RecordedCall } from '../api/recorder.ts'
import { Badge, Button, CopyButton, Segmented } from '../ui/kit.ts'
import { Icon } from '../ui/icons.tsx'
import { Empty } from '../ui/states.tsx'
import { snippet, type Language } from '../api/snippets.ts'
import { classes } from '../ui/classes.ts'
import styles from './api-drawer.module.css'
import buttonStyles from '../ui/button.module.css'
import cardStyles from '../ui/card.module.css'
import codeStyles from '../ui/code.module.css'
import ui from '../ui/ui.module.css'

const LANGUAGES: readonly { value: Language; text: string }[] = [
  { value: 'curl', text: 'curl' },
  { value: 'typescript', text: 'TypeScript' },
  { value: 'python', text: 'Python' },
  { value: 'cli', text: 'CLI' },
]
const KEPT = 'gt-language'

export default function ApiDrawer({ onClose }: { onClose(): void }): ReactElement {
  const all = recordedCalls.use()
  const [language, setLanguage] = useState<Language>(() => (localStorage.getItem(KEPT) as Language | null) ?? 'curl')
  const calls = useMemo(() => all.filter(({ screen }) => screen === location.pathname), [all])
  // What is being read stays open while the screen goes on calling.
  const [openId, setOpenId] = useState(() => calls[0]?.id ?? null)
  const close = useRef<HTMLButtonElement>(null)
  const shown = openId ?? calls.at(-1)?.id
  useEffect(() => {
    const opener = document.activeElement as HTMLElement | null
    close.current?.focus()
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape') onClose()
    }
    addEventListener('keydown', onKey)
    return () => {
      removeEventListener('keydown', onKey)
      opener?.focus()
    }
  }, [onClose])
  const choose = (next: Language) => {
    localStorage.setItem(KEPT, next)
    setLanguage(next)
  }
  return (
    <aside className={styles.drawer} aria-label="API calls of this screen">
      <div className={classes(ui.flexRow, styles.header)}>
        <h2 className={ui.grow}>API calls of this screen</h2>
        <Badge>{calls.length} calls</Badge>
        <button
          type="button"
          ref={close}
          className={classes(buttonStyles.button, buttonStyles.quiet, buttonStyles.iconOnly)}
          aria-label="Close"
          onClick={onClose}
        >
          <Icon name="x" />
        </button>
      </div>
      <div className={styles.scroll}>
        <div className={classes(ui.flexRow, ui.between, ui.wrap)}>
          <p className={classes(ui.soft, ui.small)}>
            Newest first. Snippets read your token from <span className={ui.mono}>$BASE</span> and <span className={ui.mono}>$TOKEN</span>.
          </p>
          <Segmented label="Language" value={language} options={LANGUAGES} onChange={choose} />
        </div>
        {calls.length === 0 && <Empty icon="code" title="No calls yet" />}
        {calls.map((entry) => (
          <CallCard key={entry.id} call={entry} language={language} isOpen={entry.id === shown} onOpen={() => setOpenId(entry.id)} />
        ))}
      </div>
    </aside>
  )
}

function CallCard({
  call,
  language,
  isOpen,
  onOpen,
}: {
  call: RecordedCall
  language: Language
  isOpen: boolean
  onOpen(): void
}): ReactElement {
  const text = snippet(call, language)
  const isOk = call.status >= 200 && call.status < 300
  return (
    <section className={classes(cardStyles.card, ui.marginTop8, styles.call)}>
      <button type="button" className={classes(ui.flexRow, styles.callHead)} aria-expanded={isOpen} onClick={onOpen}>
        <Icon name={isOpen ? 'chev' : 'right'} />
        <b className={classes(ui.mono, ui.grow, ui.ellipsis)}>{call.operation}</b>
        <Badge tone={isOk ? 'ok' : 'bad'}>{call.status || 'no response'}</Badge>
        <span className={classes(ui.faint, ui.small, ui.numeric)}>{call.ms} ms</span>
      </button>
      {isOpen && (
        <>
          <pre className={codeStyles.code} tabIndex={0}>
            {text}
          </pre>
          <div className={classes(ui.flexRow, styles.callFoot)}>
            <CopyButton text={text} />
            {call.path.startsWith('/v1/op/') && (
              <a
                className={classes(buttonStyles.button, buttonStyles.small, buttonStyles.quiet)}
                href={`/docs#/${call.operation.split('.')[0]}/${call.operation}`}
                target="_blank"
                rel="noreferrer"
              >
                Open in reference
              </a>
            )}
            <span className={ui.grow} />
            <Button size="s" variant="quiet" onClick={onOpen} hidden>
              Close
            </Button>
          </div>
        </>
      )}
    </section>
  )
}
