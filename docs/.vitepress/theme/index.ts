import { useData, useRoute } from "vitepress";
import theme from "vitepress/theme-without-fonts";
import { nextTick, onMounted, watch } from "vue";
import "../../../client/look/tokens.css";
import "./site.css";

/** Things that the theme lacks for people who don't see the page or don't use a mouse. */
export default {
  extends: theme,
  setup(): void {
    const { frontmatter } = useData();
    const route = useRoute();
    const complete = async (): Promise<void> => {
      await nextTick();
      // The first page has no element `main`, all others have one.
      const content = document.querySelector("#VPContent");
      if (frontmatter.value["layout"] === "home") content?.setAttribute("role", "main");
      else content?.removeAttribute("role");
      // The button's name is "Search". The key beside it is drawn by site.css, so it isn't a part of
      // the text that speech control expects in the name.
      document.querySelector(".DocSearch-Button-Key:last-child")?.replaceChildren();
      // On a phone a drawing is scrolled.
      for (const paragraph of document.querySelectorAll<HTMLElement>(".vp-doc p:has(> img)"))
        if (paragraph.scrollWidth > paragraph.clientWidth) paragraph.tabIndex = 0;
    };
    onMounted(() => {
      watch(() => route.path, complete, { immediate: true });
    });
  },
};
