/** The few pieces that every screen is made of. */
import { createLink, Link, type RegisteredRouter } from '@tanstack/react-router'
import {
  useId,
  useState,
  type AnchorHTMLAttributes,
  type ButtonHTMLAttributes,
  type InputHTMLAttributes,
  type ReactElement,
  type ReactNode,
  type SelectHTMLAttributes,
} from 'react'
import { Icon, type IconName } from './icons.tsx'
import { toast } from './toasts.tsx'

declare module 'react' {
  interface CSSProperties {
    /** Custom properties hand values from a component to its style sheet. */
    [property: `--${string}`]: string | number | undefined
  }
}

type Look = 'plain' | 'primary' | 'quiet' | 'danger'
interface ButtonParts extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children'> {
  look?: Look
  size?: 's' | 'm' | 'l'
  icon?: IconName
  wide?: boolean
  busy?: boolean
  children?: ReactNode
  /** For a button that is an icon alone. */
  label?: string
}

const LOOKS: Record<Look, string> = { plain: '', primary: 'p', quiet: 'q', danger: 'd' }
const classOf = ({ look = 'plain', size = 'm', wide, alone }: { look?: Look; size?: string; wide?: boolean; alone: boolean }) =>
  ['btn', LOOKS[look], size === 'm' ? '' : size, wide ? 'w' : '', alone ? 'ic' : ''].filter(Boolean).join(' ')

export function Button({ look, size, icon, wide, busy, label, children, disabled, className, ...rest }: ButtonParts): ReactElement {
  return (
    <button
      type="button"
      {...rest}
      className={`${classOf({ look, size, wide, alone: children === undefined })} ${className ?? ''}`}
      aria-label={label}
      title={label}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

interface LinkButtonParts extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'children'> {
  look?: Look
  size?: 's' | 'm' | 'l'
  icon?: IconName
  wide?: boolean
  children?: ReactNode
  label?: string
}

function ButtonAnchor({ look, size, icon, wide, children, label, ...anchor }: LinkButtonParts): ReactElement {
  return (
    <a {...anchor} className={classOf({ look, size, wide, alone: children === undefined })} aria-label={label} title={label}>
      {icon && <Icon name={icon} />}
      {children}
    </a>
  )
}

/** A way to another screen that looks like a button; its parameters are those of the route. */
export const LinkButton = createLink(ButtonAnchor)

/** Addresses of the console without parameters. */
export type PlainPath = Exclude<keyof RegisteredRouter['routesByPath'], `${string}$${string}`>

export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'acc' | ''
export const Badge = ({ tone = '', children }: { tone?: Tone; children: ReactNode }) => <span className={`bdg ${tone}`}>{children}</span>

const STATE_TONES: Readonly<Record<string, Tone>> = {
  active: 'ok',
  paid: 'ok',
  ready: 'ok',
  delivered: 'ok',
  fulfilled: 'ok',
  succeeded: 'ok',
  successful: 'ok',
  completed: 'ok',
  approved: 'ok',
  expiring: 'warn',
  pending: 'warn',
  open: 'warn',
  past_due: 'bad',
  failed: 'bad',
  refused: 'bad',
  rejected: 'bad',
  expired: 'bad',
  dead: 'bad',
  converting: 'info',
  running: 'info',
  uploading: 'acc',
  accepted: 'info',
  placed: 'info',
  awaiting_data: 'info',
}
/** A state of the contract, in words and in colour. */
export const State = ({ of: state }: { of: string }) => (
  <Badge tone={STATE_TONES[state.toLowerCase()] ?? ''}>{state.replaceAll('_', ' ').toLowerCase()}</Badge>
)

interface CardParts {
  title?: ReactNode
  aside?: ReactNode
  children?: ReactNode
  flush?: boolean
  className?: string
}

export function Card({ title, aside, children, flush, className = '' }: CardParts): ReactElement {
  return (
    <section className={`card ${className}`}>
      {title !== undefined && (
        <div className="hd">
          <h2 className="grow">{title}</h2>
          {aside}
        </div>
      )}
      {flush ? children : <div className="bd">{children}</div>}
    </section>
  )
}

interface PageParts {
  title: ReactNode
  about?: ReactNode
  actions?: ReactNode
  wide?: boolean
  children: ReactNode
}

export function Page({ title, about, actions, wide, children }: PageParts): ReactElement {
  return (
    <div className={wide ? 'page wide' : 'page'}>
      <header className="ph">
        <div className="grow">
          <h1 tabIndex={-1}>{title}</h1>
          {about && <p>{about}</p>}
        </div>
        {actions && <div className="act">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

interface SubLink {
  to: PlainPath
  text: ReactNode
  /** Pages below it belong to it. */
  deep?: boolean
}

export function SubNav({ label, links }: { label: string; links: readonly SubLink[] }): ReactElement {
  return (
    <nav className="subnav" aria-label={label}>
      {links.map(({ to, text, deep }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: !deep, includeSearch: false }}
          activeProps={{ className: 'on', 'aria-current': 'page' }}
        >
          {text}
        </Link>
      ))}
    </nav>
  )
}

interface SegmentedParts<T extends string> {
  label: string
  value: T
  options: readonly { value: NoInfer<T>; text: ReactNode }[]
  onChange(value: NoInfer<T>): void
  wide?: boolean
}

export function Segmented<T extends string>({ label, value, options, onChange, wide }: SegmentedParts<T>): ReactElement {
  return (
    <div className={wide ? 'seg w' : 'seg'} role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          className={option.value === value ? 'on' : ''}
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.text}
        </button>
      ))}
    </div>
  )
}

interface FieldParts extends InputHTMLAttributes<HTMLInputElement> {
  label: ReactNode
  help?: ReactNode
  error?: string | undefined
  end?: ReactNode
}

export function Field({ label, help, error, end, className, ...input }: FieldParts): ReactElement {
  const id = useId()
  const described = error ? `${id}-error` : help ? `${id}-help` : undefined
  return (
    <div className={`field ${className ?? ''}`}>
      <label className="lab" htmlFor={id}>
        {label}
      </label>
      <div className="with-end">
        <input id={id} className="input" {...input} aria-invalid={error ? true : undefined} aria-describedby={described} />
        {end}
      </div>
      {error ? (
        <p className="help bad" id={`${id}-error`} role="alert">
          {error}
        </p>
      ) : (
        help && (
          <p className="help" id={`${id}-help`}>
            {help}
          </p>
        )
      )}
    </div>
  )
}

interface ChoiceParts extends SelectHTMLAttributes<HTMLSelectElement> {
  label: ReactNode
  hideLabel?: boolean
  options: readonly { value: string; text: string; disabled?: boolean }[]
  help?: ReactNode
}

/** The browser's own list: it works with keys, fingers and screen readers as people know it. */
export function Choice({ label, hideLabel, options, help, className, ...select }: ChoiceParts): ReactElement {
  const id = useId()
  return (
    <div className={`field ${className ?? ''}`}>
      <label className={hideLabel ? 'sr' : 'lab'} htmlFor={id}>
        {label}
      </label>
      <select id={id} className="input select" {...select}>
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.disabled}>
            {option.text}
          </option>
        ))}
      </select>
      {help && <p className="help">{help}</p>}
    </div>
  )
}

export function Check({
  checked,
  onChange,
  children,
  label,
}: {
  checked: boolean
  onChange(on: boolean): void
  children?: ReactNode
  label?: string
}): ReactElement {
  return (
    <label className="check">
      <input type="checkbox" checked={checked} aria-label={label} onChange={(event) => onChange(event.target.checked)} />
      {children && <span>{children}</span>}
    </label>
  )
}

export function Toggle({
  on,
  onChange,
  label,
  disabled,
}: {
  on: boolean
  onChange(on: boolean): void
  label: string
  disabled?: boolean
}): ReactElement {
  return (
    <button
      type="button"
      role="switch"
      className={on ? 'sw on' : 'sw'}
      aria-checked={on}
      aria-label={label}
      disabled={disabled}
      onClick={() => onChange(!on)}
    />
  )
}

export function Bar({
  share,
  label,
  tone = '',
  hatched = 0,
}: {
  share: number
  label: string
  tone?: string
  hatched?: number
}): ReactElement {
  const clamp = (value: number) => Math.max(0, Math.min(100, value * 100))
  return (
    <div
      className="bar"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(clamp(share))}
    >
      {hatched > 0 && <i className="n" style={{ width: `${clamp(share + hatched)}%` }} />}
      <i className={tone} style={{ width: `${clamp(share)}%` }} />
    </div>
  )
}

export function Facts({ rows }: { rows: readonly (readonly [ReactNode, ReactNode])[] }): ReactElement {
  return (
    <dl className="dl">
      {rows.map(([name, what], index) => (
        <FactRow key={index} name={name} what={what} />
      ))}
    </dl>
  )
}
const FactRow = ({ name, what }: { name: ReactNode; what: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{what}</dd>
  </>
)

export function Note({
  tone = '',
  icon = 'info',
  children,
  actions,
}: {
  tone?: 'warn' | 'bad' | 'ok' | ''
  icon?: IconName
  children: ReactNode
  actions?: ReactNode
}): ReactElement {
  return (
    <div className={`note ${tone}`} role={tone === 'bad' ? 'alert' : undefined}>
      <Icon name={icon} />
      <div className="grow">{children}</div>
      {actions && <div className="row">{actions}</div>}
    </div>
  )
}

export async function copyText(text: string, what = 'Copied'): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    toast(what)
  } catch {
    toast('This browser does not let pages copy; select the text instead', 'bad')
  }
}

export function CopyButton({
  text,
  label = 'Copy',
  look,
  size = 's',
}: {
  text: string
  label?: string
  look?: Look
  size?: 's' | 'm'
}): ReactElement {
  return (
    <Button icon="copy" size={size} look={look} onClick={() => void copyText(text)}>
      {label}
    </Button>
  )
}

/** Shown once: a key, a secret, a link. */
export function Secret({ text, label }: { text: string; label: string }): ReactElement {
  const [shown, setShown] = useState(false)
  return (
    <div className="secret">
      <output className="mono grow cut" aria-label={label}>
        {shown ? text : `${text.slice(0, 10)}${'•'.repeat(24)}${text.slice(-4)}`}
      </output>
      <Button size="s" onClick={() => setShown(!shown)}>
        {shown ? 'Hide' : 'Show'}
      </Button>
      <CopyButton text={text} look="primary" />
    </div>
  )
}
