/** The demo account. A separate file, so that tools that only sign in need not load the service. */
export const DEMO_EMAIL = 'demo@groundtrack.dev'
export const DEMO_PASSWORD = 'groundtrack-demo'
