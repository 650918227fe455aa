// The theme chosen here or in the console, before anything is painted; else that of the system.
const chosen = localStorage.getItem('gt-theme')
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
