/** The calls that this screen made, as curl, TypeScript, Python and the command line. The console uses nothing that you cannot. */
import { useEffect, useMemo, useRef, useState, type ReactElement } from 'react'
import { recordedCalls, type RecordedCall } from '../api/recorder.ts'
import { Badge, Button, CopyButton, Segmented } from '../ui/kit.tsx'
import { Icon } from '../ui/icons.tsx'
import { Empty } from '../ui/states.tsx'
import { snippet, type Language } from '../api/snippets.ts'

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
    <aside className="api" aria-label="API calls of this screen">
      <div className="row api-head">
        <h2 className="grow">What this screen called</h2>
        <Badge>{calls.length} calls</Badge>
        <button type="button" ref={close} className="btn q ic" aria-label="Close" onClick={onClose}>
          <Icon name="x" />
        </button>
      </div>
      <div className="sc">
        <div className="row between wrap">
          <p className="soft sm">
            Newest first. Your token is left out: snippets read <span className="mono">$BASE</span> and <span className="mono">$TOKEN</span>
            .
          </p>
          <Segmented label="Language" value={language} options={LANGUAGES} onChange={choose} />
        </div>
        {calls.length === 0 && <Empty icon="code" title="Nothing was called yet" />}
        {calls.map((one) => (
          <CallCard key={one.id} call={one} language={language} isOpen={one.id === shown} onOpen={() => setOpenId(one.id)} />
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
    <section className="card mt8 call">
      <button type="button" className="row call-head" aria-expanded={isOpen} onClick={onOpen}>
        <Icon name={isOpen ? 'chev' : 'right'} />
        <b className="mono grow cut">{call.operation}</b>
        <Badge tone={isOk ? 'ok' : 'bad'}>{call.status || 'no answer'}</Badge>
        <span className="faint sm num">{call.ms} ms</span>
      </button>
      {isOpen && (
        <>
          <pre className="code" tabIndex={0}>
            {text}
          </pre>
          <div className="row call-foot">
            <CopyButton text={text} />
            {call.path.startsWith('/v1/op/') && (
              <a className="btn s q" href={`/docs#/${call.operation.split('.')[0]}/${call.operation}`} target="_blank" rel="noreferrer">
                Open in reference
              </a>
            )}
            <span className="grow" />
            <Button size="s" look="quiet" onClick={onOpen} hidden>
              Close
            </Button>
          </div>
        </>
      )}
    </section>
  )
}
