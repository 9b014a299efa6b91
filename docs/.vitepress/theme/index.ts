import theme from "vitepress/theme";
import "./captions.css";

export default theme;
