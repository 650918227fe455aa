/** The pages of the team, as the routes name them. */

export { Audit, Requests } from './audit.tsx'
export { Licences } from './licences.tsx'
export { Team } from './members.tsx'
export { OrganizationPage } from './organization.tsx'
export { Projects } from './projects.tsx'
export { VendorsPage } from './vendors.tsx'
