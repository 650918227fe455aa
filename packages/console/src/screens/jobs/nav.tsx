import { SubNav } from '../../ui/kit.ts'

export const MakeNav = () => (
  <SubNav
    label="Jobs"
    links={[
      { to: '/jobs', text: 'Jobs' },
      { to: '/processes', text: 'Processes' },
      { to: '/clips', text: 'Clips' },
      { to: '/mosaics', text: 'Mosaics' },
    ]}
  />
)
