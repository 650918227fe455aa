/** Who the demo is. A file of its own, so that tools which only sign in need not load the service. */
export const DEMO_EMAIL = 'demo@groundtrack.dev'
export const DEMO_PASSWORD = 'groundtrack-demo'
