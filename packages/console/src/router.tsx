import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet, redirect } from '@tanstack/react-router'
import { Broken, BrokenScreen } from './shell/lost.tsx'
import { withLoadError } from './ui/load-error.tsx'

/** The search parameters that a screen reads; each is text, and others are dropped. */
const search =
  <const Name extends string>(...names: readonly Name[]) =>
  (raw: Record<string, unknown>): { [name in Name]?: string } => {
    const kept: { [name in Name]?: string } = {}
    for (const name of names) if (typeof raw[name] === 'string') kept[name] = raw[name]
    return kept
  }
const noSearch = search<never>()

const root = createRootRoute({ component: Outlet, errorComponent: Broken })

/** A screen that needs no session. */
const open = <const Path extends string, Search, T extends Record<string, unknown>>(
  path: Path,
  validateSearch: (raw: Record<string, unknown>) => Search,
  load: () => Promise<T>,
  name: keyof T & string,
) => createRoute({ getParentRoute: () => root, path, validateSearch, component: lazyRouteComponent(withLoadError(load), name) })

const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: lazyRouteComponent(
    withLoadError(() => import('./shell/inside.tsx')),
    'Inside',
  ),
})

/** A screen behind the sign-in, loaded when it is opened. One that fails leaves the frame around it. */
const screen = <const Path extends string, Search, T extends Record<string, unknown>>(
  path: Path,
  validateSearch: (raw: Record<string, unknown>) => Search,
  load: () => Promise<T>,
  name: keyof T & string,
) =>
  createRoute({
    getParentRoute: () => inside,
    path,
    validateSearch,
    component: lazyRouteComponent(withLoadError(load), name),
    errorComponent: BrokenScreen,
  })

const start = createRoute({
  getParentRoute: () => inside,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/explore' })
  },
})

const account = () => import('./screens/sign-in/sign-in.tsx')
const sso = () => import('./screens/sign-in/sso.tsx')
const explore = () => import('./screens/explore/explore.tsx')
const library = () => import('./screens/library/library.tsx')
const viewer = () => import('./screens/viewer/viewer.tsx')
const maps = () => import('./screens/maps/maps.tsx')
const map = () => import('./screens/maps/map.tsx')
const lineage = () => import('./screens/lineage/lineage.tsx')
const billing = () => import('./screens/billing/billing.tsx')
const team = () => import('./screens/team/team.tsx')
const orders = () => import('./screens/orders/list.tsx')
const jobs = () => import('./screens/jobs/jobs.tsx')
const processes = () => import('./screens/jobs/process.tsx')
const builder = () => import('./screens/alerts/builder.tsx')
const webhooks = () => import('./screens/webhooks/webhooks.tsx')

const next = search('next')
const exploreSearch = search(
  'aoi',
  'bbox',
  'map',
  'from',
  'to',
  'cloud',
  'gsd',
  'sources',
  'scope',
  'sort',
  'sel',
  'style',
  'place',
  'cover',
  'angle',
  'price',
  'sensors',
  'show',
  'swipe',
  'expr',
  'cmap',
)
const librarySearch = search('q', 'type', 'view')
const viewerSearch = search(
  ...([
    'style',
    'expr',
    'bands',
    'cmap',
    'range',
    'asset',
    'with',
    'tab',
    'use',
    'zones',
    'series',
    'map',
    'tool',
    'line',
    'against',
    'at',
    'frame',
    'speed',
  ] as const),
)
const taskingSearch = search('product', 'areas', 'in', 'name', 'project', 'template')
const ruleSearch = search(
  ...(['recipe', 'collection', 'name', 'note', 'on', 'expr', 'bands', 'is', 'at', 'to', 'tell', 'quiet', 'area'] as const),
)
const auditSearch = search('operation', 'from')
const deliverySearch = search('new', 'delivery', 'status')

const routeTree = root.addChildren([
  open('/sign-in', next, account, 'SignIn'),
  open('/sign-in/sso', next, sso, 'SsoSignIn'),
  open('/sso', search('next', 'problem', 'organization'), sso, 'SsoReturn'),
  open('/sign-up', next, account, 'SignUp'),
  open('/forgot', noSearch, account, 'Forgot'),
  open('/invite/$token', noSearch, account, 'Invitation'),
  inside.addChildren([
    start,
    screen('/welcome', noSearch, () => import('./screens/welcome/welcome.tsx'), 'Welcome'),
    screen('/explore', exploreSearch, explore, 'Explore'),
    screen('/library', librarySearch, library, 'Library'),
    screen('/library/$project', librarySearch, library, 'Library'),
    screen('/library/$project/$collection', librarySearch, library, 'Library'),
    screen('/view/$item', viewerSearch, viewer, 'Viewer'),
    screen('/compare', search('a', 'b', 'at', 'style', 'mode'), () => import('./screens/compare/compare.tsx'), 'Compare'),
    screen('/uploads', search('project', 'collection', 'item'), () => import('./screens/uploads/uploads.tsx'), 'Uploads'),
    screen('/shares', search('project'), () => import('./screens/shares/shares.tsx'), 'Shares'),
    screen('/maps', search('project'), maps, 'Maps'),
    screen('/maps/$map', search('map', 'layer'), map, 'MapPage'),
    screen('/lineage', noSearch, lineage, 'LineageStart'),
    screen('/lineage/$type/$id', search('direction', 'depth', 'files'), lineage, 'Lineage'),
    screen('/develop/keys', noSearch, () => import('./screens/keys/keys.tsx'), 'Keys'),
    screen('/develop/requests', auditSearch, team, 'Requests'),
    screen('/billing', noSearch, billing, 'Overview'),
    screen('/billing/ledger', noSearch, billing, 'Ledger'),
    screen('/billing/invoices', noSearch, billing, 'Invoices'),
    screen('/billing/invoices/$id', noSearch, billing, 'InvoicePage'),
    screen('/billing/usage', noSearch, billing, 'Usage'),
    screen('/billing/cards', noSearch, billing, 'Cards'),
    screen('/billing/approvals', noSearch, billing, 'Approvals'),
    screen('/billing/plan', noSearch, billing, 'PlanPage'),
    screen('/billing/commitments', search('month'), billing, 'Commitments'),
    screen('/account', noSearch, () => import('./screens/account/account.tsx'), 'Account'),
    screen('/team', noSearch, team, 'Team'),
    screen('/team/projects', search('project'), team, 'Projects'),
    screen('/team/licences', noSearch, team, 'Licences'),
    screen('/team/vendors', search('connect'), team, 'VendorsPage'),
    screen('/team/audit', auditSearch, team, 'Audit'),
    screen('/team/organization', noSearch, team, 'OrganizationPage'),
    screen('/orders', search('status', 'mine', 'type', 'project', 'page'), orders, 'Orders'),
    screen('/orders/review', search('name', 'project', 'split'), () => import('./screens/orders/review.tsx'), 'ReviewOrder'),
    screen('/orders/$id', noSearch, () => import('./screens/orders/order.tsx'), 'OrderPage'),
    screen('/tasking', noSearch, () => import('./screens/tasking/list.tsx'), 'Tasking'),
    screen('/tasking/new', taskingSearch, () => import('./screens/tasking/new.tsx'), 'NewTasking'),
    screen('/tasking/$order', noSearch, () => import('./screens/tasking/decision.tsx'), 'TaskingOrder'),
    screen('/jobs', search('status', 'project', 'process', 'page'), jobs, 'Jobs'),
    screen('/jobs/$id', noSearch, () => import('./screens/jobs/job.tsx'), 'JobPage'),
    screen('/clips', search('aoi', 'area', 'project'), () => import('./screens/jobs/clips.tsx'), 'Clips'),
    screen('/mosaics', noSearch, () => import('./screens/jobs/mosaics.tsx'), 'Mosaics'),
    screen('/processes', noSearch, processes, 'Processes'),
    screen('/processes/$id', search('in', 'project'), processes, 'ProcessPage'),
    screen('/alerts', search('show'), () => import('./screens/alerts/alerts.tsx'), 'Alerts'),
    screen('/alerts/new', ruleSearch, builder, 'NewAlert'),
    screen('/alerts/$id', noSearch, () => import('./screens/alerts/alert.tsx'), 'Alert'),
    screen('/alerts/$id/edit', ruleSearch, builder, 'EditAlert'),
    screen('/develop/webhooks', deliverySearch, webhooks, 'Webhooks'),
    screen('/develop/webhooks/$id', deliverySearch, webhooks, 'Webhooks'),
    screen('/reports', search('about', 'format', 'item', 'period', 'project'), () => import('./screens/reports/reports.tsx'), 'Reports'),
    screen('/inbox', search('show'), () => import('./screens/inbox/inbox.tsx'), 'Inbox'),
    // Every other URL keeps the frame.
    screen('/$', noSearch, () => import('./shell/page-not-found.tsx'), 'PageNotFound'),
  ]),
])

export const router = createRouter({
  routeTree,
  basepath: '/app',
  defaultPreload: 'intent',
  scrollRestoration: true,
  // Every parameter is text; screens parse it.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (values) => {
    const kept = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== '')
    const text = new URLSearchParams(kept.map(([name, value]) => [name, String(value)])).toString()
    return text ? `?${text}` : ''
  },
})

/** Links and navigation are type-checked against the routes above. */
declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
