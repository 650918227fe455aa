/** The frame: rail, top bar, the screen, on phones a bar below. */
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { Suspense, useEffect, useState, type ReactElement, type ReactNode } from 'react'
import { useOp } from '../api/query.ts'
import { Icon, Logo } from '../ui/icons.tsx'
import { Button } from '../ui/kit.ts'
import { count } from '../ui/format.ts'
import { loadLater } from '../ui/load-later.tsx'
import { Menu, MenuItem } from '../ui/menu.tsx'
import { Skeleton } from '../ui/states.tsx'
import { AccountMenu } from './account-menu.tsx'
import { FirstSteps } from './first-steps.tsx'
import { NotificationMenu } from './notification-menu.tsx'
import { useCrumbs } from '../state/crumbs.ts'
import { setTheme, useTheme } from '../ui/theme.ts'
import type { Overlay } from './overlay.ts'
import { PHONE, PLACES, RUN, WORK, type Place } from './places.ts'
import { isTyping } from '../ui/keys.ts'
import { useWho } from '../state/who.ts'
import { useCart } from '../state/cart.ts'
import { useCartSync } from './use-cart-sync.ts'
import { classes } from '../ui/classes.ts'
import styles from './shell.module.css'
import ui from '../ui/ui.module.css'

const Palette = loadLater(async () => (await import('./palette.tsx')).default)
const ApiDrawer = loadLater(async () => (await import('./api-drawer.tsx')).default)
const ShortcutList = loadLater(async () => (await import('./shortcuts.tsx')).default)

export function Shell(): ReactElement {
  const [overlay, setOverlay] = useState<Overlay>(null)
  const path = useRouterState({ select: (state) => state.location.pathname.replace(/^\/app/, '') })
  useCartSync()
  const cart = useCart()
  const pending = useOp('orders.tasking.decisions.pending', { size: 1 }, { refetchInterval: 60_000, staleTime: 30_000 })
  const decisions = (pending.data?.totalStudies ?? 0) + (pending.data?.totalQuotations ?? 0)
  useShortcuts(overlay, setOverlay)
  useEffect(() => {
    const heading = document.querySelector<HTMLElement>('main h1')
    heading?.focus({ preventScroll: true })
  }, [path])
  const isOn = ({ to, also = [] }: Place) => [to, ...also].some((prefix) => path === prefix || path.startsWith(`${prefix}/`))
  const entry = (place: Place) => (
    <Link key={place.to} to={place.to} className={isOn(place) ? styles.selected : ''} aria-current={isOn(place) ? 'page' : undefined}>
      <Icon name={place.icon} />
      {place.text}
      {place.to === '/orders' && cart.length > 0 && <span className={styles.counter}>{cart.length}</span>}
      {place.to === '/tasking' && decisions > 0 && <span className={styles.counter}>{decisions}</span>}
    </Link>
  )
  return (
    <div className={styles.shell}>
      <a className={styles.skipLink} href="#main">
        Skip to content
      </a>
      <nav className={styles.rail} aria-label="Main">
        <Link to="/welcome" className={styles.logo} aria-label="Groundtrack, first steps">
          <Logo />
        </Link>
        {WORK.map(entry)}
        <span className={styles.spacer} />
        {RUN.map(entry)}
      </nav>
      <TopBar open={setOverlay} />
      <main className={styles.main} id="main">
        <Suspense fallback={<Skeleton />}>
          <Outlet />
        </Suspense>
      </main>
      <nav className={styles.tabBar} aria-label="Main, on a phone">
        {PHONE.map(entry)}
        <MoreMenu isOn={PLACES.some((place) => !PHONE.includes(place) && isOn(place))} />
      </nav>
      {overlay === 'palette' && <Palette onClose={() => setOverlay(null)} open={setOverlay} />}
      {overlay === 'api' && <ApiDrawer onClose={() => setOverlay(null)} />}
      {overlay === 'keys' && <ShortcutList onClose={() => setOverlay(null)} />}
      <Offline />
    </div>
  )
}

function MoreMenu({ isOn }: { isOn: boolean }): ReactElement {
  const navigate = useNavigate()
  const rest = [...WORK.filter((place) => !PHONE.includes(place)), ...RUN]
  return (
    <Menu
      label="More screens"
      align="end"
      button={(trigger) => (
        <button {...trigger} type="button" className={isOn ? styles.selected : ''}>
          <Icon name="dots" />
          More
        </button>
      )}
    >
      {rest.map(({ to, text, icon }) => (
        <MenuItem key={to} icon={icon} onClick={() => void navigate({ to })}>
          {text}
        </MenuItem>
      ))}
    </Menu>
  )
}

function TopBar({ open }: { open(overlay: Overlay): void }): ReactElement {
  const who = useWho()
  const crumbs = useCrumbs()
  const theme = useTheme()
  return (
    <header className={styles.topBar}>
      <div className={styles.crumbs}>
        {crumbs.length === 0 ? <span className={ui.ellipsis}>{who.organizationName}</span> : <Crumbs parts={crumbs} />}
      </div>
      <button type="button" className={styles.searchButton} onClick={() => open('palette')}>
        <Icon name="search" />
        <span className={ui.screenReaderOnly}>Search</span>
        <span className={classes(ui.grow, ui.ellipsis)}>Search places, items, commands</span>
        <span className={styles.keyHint}>Ctrl K</span>
      </button>
      <div className={classes(ui.flexRow, ui.gap6)}>
        <span className={ui.hideOnPhone}>
          <Button variant="quiet" icon="code" onClick={() => open('api')} title="Show API calls (Shift A)">
            API
          </Button>
        </span>
        <FirstSteps />
        <Wallet />
        <NotificationMenu />
        <span className={ui.hideOnPhone}>
          <Button
            variant="quiet"
            icon={theme === 'dark' ? 'sun' : 'moon'}
            label={theme === 'dark' ? 'Use the light theme' : 'Use the dark theme'}
            onClick={() => setTheme(theme === 'dark' ? 'light' : 'dark')}
          />
        </span>
        <AccountMenu open={open} />
      </div>
    </header>
  )
}

function Crumbs({ parts }: { parts: readonly { text: ReactNode; to?: string }[] }): ReactElement {
  return (
    <>
      {parts.map(({ text, to }, index) => (
        <span key={index} className={classes(ui.flexRow, ui.gap6, ui.ellipsis)}>
          {index > 0 && <Icon name="right" size={12} />}
          {to ? (
            <Link to={to} className={classes(ui.soft, ui.ellipsis)}>
              <Icon name="right" />
              <span>{text}</span>
            </Link>
          ) : (
            <span className={ui.ellipsis}>{text}</span>
          )}
        </span>
      ))}
    </>
  )
}

function Wallet(): ReactElement | null {
  const { isAdmin, organizationId } = useWho()
  const balance = useOp('billing.credits.balance', {}, { staleTime: 30_000, enabled: isAdmin })
  const status = useOp('billing.status.get', { organization_id: organizationId }, { staleTime: 300_000, enabled: isAdmin })
  if (!balance.data || status.data?.billing_mode === 'enterprise') return null
  return (
    <Link to="/billing" className={classes(styles.wallet, ui.hideOnPhone)}>
      <i />
      <span className={ui.numeric}>{count(balance.data.available_credits)}</span>
      <span className={ui.soft}>credits</span>
    </Link>
  )
}

/** Ctrl K, Shift A, ? and G with a letter, wherever nobody is typing. */
function useShortcuts(overlay: Overlay, open: (overlay: Overlay) => void): void {
  const navigate = useNavigate()
  useEffect(() => {
    let afterG = 0
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        return open(overlay === 'palette' ? null : 'palette')
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return
      if (event.shiftKey && event.key === 'A') return open(overlay === 'api' ? null : 'api')
      if (event.key === '?') return open('keys')
      if (event.key === '/' && overlay === null) {
        event.preventDefault()
        return open('palette')
      }
      if (event.key === 'g') return void (afterG = Date.now())
      const place = Date.now() - afterG < 1_200 ? PLACES.find(({ letter }) => letter === event.key) : undefined
      afterG = 0
      if (place) void navigate({ to: place.to })
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [navigate, open, overlay])
}

function Offline(): ReactElement | null {
  const [online, setOnline] = useState(navigator.onLine)
  useEffect(() => {
    const change = () => setOnline(navigator.onLine)
    addEventListener('online', change)
    addEventListener('offline', change)
    return () => {
      removeEventListener('online', change)
      removeEventListener('offline', change)
    }
  }, [])
  if (online) return null
  return (
    <div className={styles.offline} role="status">
      <Icon name="wifi" /> <b>You&apos;re offline.</b> Uploads resume when you reconnect.
    </div>
  )
}
