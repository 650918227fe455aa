import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet, redirect } from '@tanstack/react-router'
import { Lost, Broken } from './shell/lost.tsx'

const root = createRootRoute({ component: Outlet, notFoundComponent: Lost, errorComponent: Broken })
const authScreens = () => import('./screens/sign-in/sign-in.tsx')
const signIn = createRoute({ getParentRoute: () => root, path: '/sign-in', component: lazyRouteComponent(authScreens, 'SignIn') })
const signUp = createRoute({ getParentRoute: () => root, path: '/sign-up', component: lazyRouteComponent(authScreens, 'SignUp') })
const forgot = createRoute({ getParentRoute: () => root, path: '/forgot', component: lazyRouteComponent(authScreens, 'Forgot') })
const invite = createRoute({ getParentRoute: () => root, path: '/invite/$token', component: lazyRouteComponent(authScreens, 'Invitation') })

const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: lazyRouteComponent(() => import('./shell/inside.tsx'), 'Inside'),
})

/** A screen behind the sign-in, loaded when somebody goes there. */
const screen = <T extends Record<string, unknown>>(path: string, load: () => Promise<T>, name: keyof T & string) =>
  createRoute({ getParentRoute: () => inside, path, component: lazyRouteComponent(load, name) })

const start = createRoute({
  getParentRoute: () => inside,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/explore' })
  },
})
const billing = () => import('./screens/billing/billing.tsx')
const team = () => import('./screens/team/team.tsx')
const orders = () => import('./screens/orders/list.tsx')
const jobs = () => import('./screens/jobs/jobs.tsx')
const processes = () => import('./screens/jobs/process.tsx')

const screens = [
  screen('/welcome', () => import('./screens/welcome/welcome.tsx'), 'Welcome'),
  screen('/explore', () => import('./screens/explore/explore.tsx'), 'Explore'),
  screen('/library', () => import('./screens/library/library.tsx'), 'Library'),
  screen('/library/$project', () => import('./screens/library/library.tsx'), 'Library'),
  screen('/library/$project/$collection', () => import('./screens/library/library.tsx'), 'Library'),
  screen('/view/$item', () => import('./screens/viewer/viewer.tsx'), 'Viewer'),
  screen('/compare', () => import('./screens/compare/compare.tsx'), 'Compare'),
  screen('/uploads', () => import('./screens/uploads/uploads.tsx'), 'Uploads'),
  screen('/shares', () => import('./screens/shares/shares.tsx'), 'Shares'),
  screen('/lineage', () => import('./screens/lineage/lineage.tsx'), 'LineageStart'),
  screen('/lineage/$type/$id', () => import('./screens/lineage/lineage.tsx'), 'Lineage'),
  screen('/develop/keys', () => import('./screens/keys/keys.tsx'), 'Keys'),
  screen('/develop/requests', () => import('./screens/team/team.tsx'), 'Requests'),
  screen('/billing', billing, 'Overview'),
  screen('/billing/ledger', billing, 'Ledger'),
  screen('/billing/invoices', billing, 'Invoices'),
  screen('/billing/invoices/$id', billing, 'InvoicePage'),
  screen('/billing/usage', billing, 'Usage'),
  screen('/billing/cards', billing, 'Cards'),
  screen('/billing/approvals', billing, 'Approvals'),
  screen('/billing/plan', billing, 'PlanPage'),
  screen('/billing/commitments', billing, 'Commitments'),
  screen('/team', team, 'Team'),
  screen('/team/projects', team, 'Projects'),
  screen('/team/licences', team, 'Licences'),
  screen('/team/audit', team, 'Audit'),
  screen('/team/organization', team, 'OrganizationPage'),
  screen('/orders', orders, 'Orders'),
  screen('/orders/review', () => import('./screens/orders/review.tsx'), 'ReviewOrder'),
  screen('/orders/$id', () => import('./screens/orders/order.tsx'), 'OrderPage'),
  screen('/tasking', () => import('./screens/tasking/list.tsx'), 'Tasking'),
  screen('/tasking/new', () => import('./screens/tasking/new.tsx'), 'NewTasking'),
  screen('/tasking/$order', () => import('./screens/tasking/decision.tsx'), 'TaskingOrder'),
  screen('/jobs', jobs, 'Jobs'),
  screen('/jobs/$id', () => import('./screens/jobs/job.tsx'), 'JobPage'),
  screen('/clips', () => import('./screens/jobs/clips.tsx'), 'Clips'),
  screen('/mosaics', () => import('./screens/jobs/mosaics.tsx'), 'Mosaics'),
  screen('/processes', processes, 'Processes'),
  screen('/processes/$id', processes, 'ProcessPage'),
  screen('/alerts', () => import('./screens/alerts/alerts.tsx'), 'Alerts'),
  screen('/alerts/new', () => import('./screens/alerts/builder.tsx'), 'NewAlert'),
  screen('/alerts/$id', () => import('./screens/alerts/alert.tsx'), 'Alert'),
  screen('/alerts/$id/edit', () => import('./screens/alerts/builder.tsx'), 'EditAlert'),
  screen('/develop/webhooks', () => import('./screens/webhooks/webhooks.tsx'), 'Webhooks'),
  screen('/develop/webhooks/$id', () => import('./screens/webhooks/webhooks.tsx'), 'Webhooks'),
  screen('/reports', () => import('./screens/reports/reports.tsx'), 'Reports'),
  screen('/inbox', () => import('./screens/inbox/inbox.tsx'), 'Inbox'),
]

export const router = createRouter({
  routeTree: root.addChildren([signIn, signUp, forgot, invite, inside.addChildren([start, ...screens])]),
  basepath: '/app',
  defaultPreload: 'intent',
  scrollRestoration: true,
  // Every parameter is text: what stands in the address is what a screen reads.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const kept = Object.entries(search).filter(([, value]) => value !== undefined && value !== null && value !== '')
    const text = new URLSearchParams(kept.map(([name, value]) => [name, String(value)])).toString()
    return text ? `?${text}` : ''
  },
})
