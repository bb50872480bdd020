import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import './style.css';

export default {
  extends: DefaultTheme,
  enhanceApp({ router }) {
    if (!import.meta.env.SSR) {
      router.onAfterRouteChange = () => void requestAnimationFrame(nameMain);
    }
  },
} satisfies Theme;

/** The default theme has no main part on its first page. */
function nameMain(): void {
  document.querySelector('.VPContent.is-home')?.setAttribute('role', 'main');
}
